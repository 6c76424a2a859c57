package write

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
)

// Guard asserts nodes for a caller who writes by other means.
type Guard struct {
	*Engine
	DB    *gorm.DB
	Table *table.Table
	Keys  []any
}

// Run asserts the nodes, and takes their path locks before if lock is set.
func (g *Guard) Run(lock bool) ([]pathlock.Location, error) {
	running, err := g.TransactionOf(g.DB)
	switch {
	case err != nil:
		return nil, err
	case running == nil:
		return nil, fmt.Errorf("%w: asserting needs a transaction", fault.ErrUnmanagedTransaction)
	}
	if err := g.becomeWriter(g.DB, running, g.Table.Above); err != nil {
		return nil, err
	}
	if lock {
		return g.lock(running)
	}
	return assertInStep(g.Engine, g.DB, 1, g.assertNodes)
}

// locations are where the nodes are.
type locations []pathlock.Location

// Requests implements [plan.Demand].
func (l locations) Requests(note string, wait time.Duration) []pathlock.Request {
	wanted := make(plan.Claims)
	for _, at := range l {
		wanted.Add(at)
	}
	return wanted.Requests(note, wait)
}

// lock takes the exclusive path locks on the nodes, and asserts that the nodes are where it has
// locked them. In its second attempt it relies on what the first assertion has found.
func (g *Guard) lock(running *txn.Transaction) ([]pathlock.Location, error) {
	var actual locations
	h := &held{Operation: "raw", Note: "raw SQL on " + g.Table.TableName}
	return planAndAssert(g.Engine, g.DB, running, h, steps[locations]{
		Plan: func(locking bool) (locations, error) {
			if locking && actual != nil {
				return actual, nil
			}
			return g.find()
		},
		Assert: func(planned locations) (_ locations, err error) {
			if actual, err = g.assertNodes(); err == nil && !slices.Equal(actual, planned) {
				err = fmt.Errorf("%s: %w", g.Table.TableName, pathlock.ErrPathChanged)
			}
			return actual, err
		},
		always: true,
	})
}

// find returns where plain reads find the nodes.
func (g *Guard) find() (locations, error) {
	found, err := g.Table.ByID(g.DB, g.Keys, "")
	if err == nil && g.Table.IsLeaf() {
		_, err = g.place(found, "")
	}
	if err != nil {
		return nil, err
	}
	return g.locations(found)
}

// assertNodes row-locks the nodes and everything above them, and checks the paths. It locks the
// ancestors first, as everybody does.
func (g *Guard) assertNodes() (_ locations, err error) {
	t := g.Table
	var planned map[any]*table.Node
	if t.IsLeaf() {
		planned, err = t.ByID(g.DB, g.Keys, "")
	} else {
		planned, err = t.Climb(g.DB, g.Keys)
	}
	if err != nil {
		return nil, err
	}
	// An old snapshot may be wrong about the ancestors, which does not matter yet.
	if err := g.lockAbove(planned); err != nil && !isOutdated(err) {
		return nil, err
	}
	locked, err := t.ByID(g.DB, g.Keys, g.Dialect.Update)
	if err != nil {
		return nil, err
	}
	if t.IsLeaf() {
		err = g.lockAbove(locked)
	} else if _, err = g.locations(locked); err == nil {
		_, err = g.lockChains(g.DB, t, slices.Collect(maps.Values(locked)), planned)
	}
	if err != nil {
		return nil, err
	}
	return g.locations(locked)
}

// lockAbove row-locks what is above the nodes, and checks it. Leaves get their places by that.
func (g *Guard) lockAbove(nodes map[any]*table.Node) error {
	var above []*table.Node
	known := nodes
	if g.Table.IsLeaf() {
		parents, err := g.place(nodes, g.Dialect.Share)
		if err != nil {
			return err
		}
		above, known = slices.Collect(maps.Values(parents)), nil
	}
	for _, key := range g.Keys {
		if n := known[key]; n != nil && known[n.Parent] != nil {
			above = append(above, known[n.Parent])
		}
	}
	_, err := g.lockChains(g.DB, g.Table.Above, above, known)
	return err
}

// place gives leaves the places that follow from their parents', which it reads and returns.
func (g *Guard) place(leaves map[any]*table.Node, lock string) (map[any]*table.Node, error) {
	t := g.Table.Above
	parents, err := t.ByID(g.DB, table.ParentsOf(leaves), lock)
	if err != nil {
		return nil, err
	}
	for _, n := range leaves {
		above := parents[n.Parent]
		if above == nil {
			return nil, fmt.Errorf("%w: %s, the parent of %s", pathlock.ErrNotFound, t.RowName(n.Parent), g.Table.RowName(n.ID))
		}
		g.Table.Follow(n, above)
	}
	return parents, nil
}

// locations returns where the nodes are, in the order of the keys.
func (g *Guard) locations(nodes map[any]*table.Node) (locations, error) {
	found := make(locations, len(g.Keys))
	for i, key := range g.Keys {
		n := nodes[key]
		if n == nil {
			return nil, g.Table.Missing(key)
		}
		var err error
		if found[i], err = g.Table.Above.Location(n); err != nil {
			return nil, err
		}
	}
	return found, nil
}
