package gormplugin

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
)

// Assert is the guard for those who write below a node by other means than GORM's create, update
// and delete, such as raw SQL ([AllowRawWrites]). In the transaction tx it row-locks the node with
// the id, and its ancestors, the root first, and checks that every path on the way is the parent's
// path + "/" + name and that nothing is deleted. It returns where the node is; there it stays until
// the end of tx. Of a leaf, it is the parent that is checked so, and the leaf's own row is locked.
//
// It takes no path lock; [LockSubtrees] does. model is a registered one, and id a primary key as
// the model has it, or its text form. Errors match [pathlock.ErrNotFound], [pathlock.ErrInvalidID],
// [pathlock.ErrPathChanged], [ErrRetry] or [ErrUnmanagedTransaction], the last one also where tx is
// no transaction.
func Assert(tx *gorm.DB, model, id any) (pathlock.Location, error) {
	locations, err := AssertAll(tx, model, id)
	if err != nil {
		return pathlock.Location{}, err
	}
	return locations[0], nil
}

// AssertAll is [Assert] for several nodes of one model, at the cost of about one: their locations
// are in the order of ids. Two callers that assert the same nodes in one call each do not deadlock.
func AssertAll(tx *gorm.DB, model any, ids ...any) ([]pathlock.Location, error) {
	return guardNodes(tx, model, ids, false)
}

// LockSubtrees prepares a rewrite of whole subtrees by raw SQL ([AllowRawWrites]): it takes the
// exclusive path locks on the nodes, as a rename or a deletion of them would, waiting for at most
// [TransactionWait], and asserts the nodes as [AssertAll] does. Until the end of tx nobody else
// writes anything at or below them through the plugin: by the path locks where these are respected,
// and by the row locks on the nodes where they are lost.
//
// What the rewrite makes of the tree is the caller's business: at the commit every path has to be
// the parent's path + "/" + name again. A new name or a new parent needs its slot to be locked,
// too: prefer Update for those.
//
// Errors are those of [Assert], and package pathlock's where a lock is not granted.
func LockSubtrees(tx *gorm.DB, model any, ids ...any) ([]pathlock.Location, error) {
	return guardNodes(tx, model, ids, true)
}

// guardNodes does the work of [AssertAll], and of [LockSubtrees] if lock is set.
func guardNodes(tx *gorm.DB, model any, ids []any, lock bool) ([]pathlock.Location, error) {
	p, t, err := subject(tx, model)
	if err != nil {
		return nil, err
	}
	keys := make([]any, len(ids))
	for i, id := range ids {
		if keys[i], err = t.KeyOf(id); err != nil {
			return nil, err
		}
	}
	db := tx.Session(&gorm.Session{NewDB: true, Context: p.owner.Join(tx.Statement.Context)}).Model(t.Fresh())
	g := guard{keeper: p.keeper, db: db, table: t, keys: keys}
	locations, err := g.run(lock)
	if err == nil {
		return locations, nil
	}
	_ = db.AddError(err)
	p.frame.explain(db, &statement{table: t})
	return nil, db.Error
}

// guard asserts nodes for a caller who writes by other means.
type guard struct {
	*keeper
	db    *gorm.DB
	table *table.Table
	keys  []any
}

// run asserts the nodes, and takes their path locks before if lock is set.
func (g *guard) run(lock bool) ([]pathlock.Location, error) {
	running, err := g.TransactionOf(g.db)
	switch {
	case err != nil:
		return nil, err
	case running == nil:
		return nil, fmt.Errorf("%w: asserting needs a transaction", fault.ErrUnmanagedTransaction)
	}
	if err := g.becomeWriter(g.db, running, g.table.Above); err != nil {
		return nil, err
	}
	if lock {
		return g.lock(running)
	}
	return g.assertNodes()
}

// lock takes the exclusive path locks on the nodes, and asserts that these are where they were
// locked. As everything that locks, it believes plain reads at first, and once more what the
// assertion has found.
func (g *guard) lock(running *txn.Transaction) ([]pathlock.Location, error) {
	const lastRound = 1
	planned, err := g.find()
	if err != nil {
		return nil, err
	}
	h := &held{note: "raw SQL on " + g.table.TableName}
	for round := 0; ; round++ {
		wait := g.transactionWait
		if round == lastRound {
			wait = pathlock.NoWait
		}
		wanted := make(claims)
		for _, at := range planned {
			wanted.add(at.Tree, at.Path)
		}
		if err := g.acquireWithin(g.db, running, h, wanted, wait); err != nil {
			return nil, err
		}
		actual, err := g.assertNodes()
		if err != nil || slices.Equal(actual, planned) {
			return actual, err
		}
		if round == lastRound {
			return nil, fmt.Errorf("%s: %w", g.table.TableName, pathlock.ErrPathChanged)
		}
		planned = actual
	}
}

// find returns where plain reads find the nodes.
func (g *guard) find() ([]pathlock.Location, error) {
	found, err := g.table.ByID(g.db, g.keys, "")
	if err == nil && g.table.IsLeaf() {
		_, err = g.place(found, "")
	}
	if err != nil {
		return nil, err
	}
	return g.locations(found)
}

// assertNodes row-locks the nodes and everything above them, the ancestors first, as everybody does, and
// checks the paths.
func (g *guard) assertNodes() ([]pathlock.Location, error) {
	t, update := g.table, g.Dialect.Update
	if t.IsLeaf() {
		return g.assertLeaves()
	}
	planned, err := t.Climb(g.db, g.keys)
	if err != nil {
		return nil, err
	}
	var above []*table.Node
	for _, key := range g.keys {
		if n := planned[key]; n != nil && planned[n.Parent] != nil {
			above = append(above, planned[n.Parent])
		}
	}
	// What an old snapshot has wrong about the ancestors does not matter here.
	if _, err := g.lockChains(g.db, t, above, planned); err != nil && !errors.Is(err, pathlock.ErrPathChanged) {
		return nil, err
	}
	locked, err := t.ByID(g.db, g.keys, update)
	if err != nil {
		return nil, err
	}
	locations, err := g.locations(locked)
	if err != nil {
		return nil, err
	}
	_, err = g.lockChains(g.db, t, slices.Collect(maps.Values(locked)), planned)
	return locations, err
}

// assertLeaves is assertNodes for leaves: their parents, and then they themselves.
func (g *guard) assertLeaves() ([]pathlock.Location, error) {
	planned, err := g.table.ByID(g.db, g.keys, "")
	if err != nil {
		return nil, err
	}
	if err := g.assertParents(planned); err != nil && !isOutdated(err) {
		return nil, err
	}
	locked, err := g.table.ByID(g.db, g.keys, g.Dialect.Update)
	if err != nil {
		return nil, err
	}
	if err := g.assertParents(locked); err != nil {
		return nil, err
	}
	return g.locations(locked)
}

// assertParents asserts what is above leaves, and gives them their places.
func (g *guard) assertParents(leaves map[any]*table.Node) error {
	parents, err := g.place(leaves, g.Dialect.Share)
	if err != nil {
		return err
	}
	_, err = g.lockChains(g.db, g.table.Above, slices.Collect(maps.Values(parents)), nil)
	return err
}

// place gives leaves the places that follow from their parents', which it reads and returns.
func (g *guard) place(leaves map[any]*table.Node, lock dialect.RowLock) (map[any]*table.Node, error) {
	t := g.table.Above
	ids := make(map[any]bool)
	for _, n := range leaves {
		ids[n.Parent] = true
	}
	parents, err := t.ByID(g.db, slices.Collect(maps.Keys(ids)), lock)
	if err != nil {
		return nil, err
	}
	for _, n := range leaves {
		above := parents[n.Parent]
		if above == nil {
			return nil, fmt.Errorf("%w: %s, the parent of %s", pathlock.ErrNotFound, t.RowName(n.Parent), g.table.RowName(n.ID))
		}
		n.Tree = above.Tree
		g.table.Follow(n, above)
	}
	return parents, nil
}

// locations returns where the nodes are, in the order of the keys.
func (g *guard) locations(nodes map[any]*table.Node) ([]pathlock.Location, error) {
	locations := make([]pathlock.Location, len(g.keys))
	for i, key := range g.keys {
		n := nodes[key]
		if n == nil {
			return nil, fmt.Errorf("%w: %s", pathlock.ErrNotFound, g.table.RowName(key))
		}
		var err error
		if locations[i], err = g.table.Above.Location(n); err != nil {
			return nil, err
		}
	}
	return locations, nil
}
