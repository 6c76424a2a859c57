package hold

import (
	"iter"
	"maps"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
)

// LockChains row-locks the nodes and everything above them for sharing, and checks that each is
// where it was planned to be: that every path on the way down is the parent's path + "/" + name,
// and that nothing on the way is deleted. It returns the locked rows, by id. known are rows that
// were read before, which suggest what to lock at once. Where a check fails, the error is a
// [*fault.PathChangedError].
//
// To lock only the parent would not be enough: a rename further up may not have reached the
// parent's row yet, and its UPDATE may not see rows that are newer than its snapshot.
func (k *Keeper) LockChains(db *gorm.DB, t *table.Table, planned []*table.Node, known map[any]*table.Node) (map[any]*table.Node, error) {
	return k.LockRest(db, NewChains(t, planned, known, nil))
}

// LockRest locks the rows of c that are not locked yet, and checks the chains. One read is enough
// unless the known rows are out of date; then it finds the way up under locks.
func (k *Keeper) LockRest(db *gorm.DB, c *Chains) (map[any]*table.Node, error) {
	for ids := c.Next(); len(ids) > 0; ids = c.Next() {
		found, err := c.table.ByID(db, ids, k.Dialect.Share)
		if err != nil {
			return nil, err
		}
		c.Found(maps.Values(found))
	}
	for _, n := range c.planned {
		if err := checkChain(c.table, n, c.locked); err != nil {
			return nil, err
		}
	}
	return c.locked, nil
}

// Chains are rows that are to be locked with everything above them, as far as that is known.
type Chains struct {
	table   *table.Table
	planned []*table.Node
	locked  map[any]*table.Node
	asked   map[any]bool
	ids     []any
}

// NewChains returns the chains of the planned rows. The caller locks the rows with the ids in
// others.
func NewChains(t *table.Table, planned []*table.Node, known map[any]*table.Node, others []any) *Chains {
	c := &Chains{table: t, planned: planned, locked: make(map[any]*table.Node), asked: make(map[any]bool)}
	for _, id := range others {
		c.asked[id] = true
	}
	climbed := make(map[any]bool)
	for _, n := range planned {
		for n != nil && !climbed[n.ID] {
			climbed[n.ID] = true
			c.ask(n.ID)
			n = known[n.Parent]
		}
	}
	return c
}

// ask notes a row that is to be locked.
func (c *Chains) ask(id any) {
	if id != nil && !c.asked[id] {
		c.asked[id] = true
		c.ids = append(c.ids, id)
	}
}

// Next returns the rows to be locked now.
func (c *Chains) Next() []any {
	ids := c.ids
	c.ids = nil
	return ids
}

// Found notes rows that have been locked, and asks for what is above them.
func (c *Chains) Found(rows iter.Seq[*table.Node]) {
	for n := range rows {
		c.locked[n.ID] = n
		c.ask(n.Parent)
	}
}

// checkChain checks a node and everything above it, up to the top.
func checkChain(t *table.Table, planned *table.Node, locked map[any]*table.Node) error {
	changed := &fault.PathChangedError{Table: t.TableName, ID: planned.ID, Planned: planned.Path}
	n := locked[planned.ID]
	if n == nil {
		return changed
	}
	if n.Path != planned.Path || n.IDs != planned.IDs || n.Tree != planned.Tree {
		changed.Actual = n.Path
		return changed
	}
	for range pathlock.MaxDepth + 1 {
		above := locked[n.Parent]
		if n.Parent != nil && (above == nil || above.Tree != n.Tree) {
			return changed
		}
		if actual, ok := t.InPlace(n, above); !ok {
			changed.Actual = actual
			return changed
		}
		if n.Parent == nil {
			return nil
		}
		n = above
	}
	return changed
}
