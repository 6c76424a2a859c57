package hold

import (
	"maps"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
)

// LockChains row-locks the nodes and everything above them for sharing, and checks that each is
// where it was planned to be: that every path on the way down is the parent's path + "/" + name,
// and that nothing on the way is deleted. It returns what it has locked, by id. known are rows read
// before, which say whom to lock at once.
//
// Locking only the parent would not be enough: a rename further up that has not reached the
// parent's row yet would be missed where its UPDATE does not see rows newer than its snapshot.
// Where a check fails, the error is a [*fault.PathChangedError].
func (k *Keeper) LockChains(db *gorm.DB, t *table.Table, planned []*table.Node, known map[any]*table.Node) (map[any]*table.Node, error) {
	return k.LockRest(db, NewChains(t, planned, known, nil))
}

// LockRest locks what is not locked yet of c, and checks it: by one read, unless what was known is
// out of date. Then the way up is found under locks.
func (k *Keeper) LockRest(db *gorm.DB, c *Chains) (map[any]*table.Node, error) {
	for ids := c.Next(); len(ids) > 0; ids = c.Next() {
		found, err := c.table.ByID(db, ids, k.Dialect.Share)
		if err != nil {
			return nil, err
		}
		c.Found(slices.Collect(maps.Values(found)))
	}
	for _, n := range c.planned {
		if err := checkChain(c.table, n, c.locked); err != nil {
			return nil, err
		}
	}
	return c.locked, nil
}

// Chains are rows with everything above them, as far as it is known, on the way to being locked.
type Chains struct {
	table   *table.Table
	planned []*table.Node
	locked  map[any]*table.Node
	asked   map[any]bool
	ids     []any
}

// NewChains returns the chains of planned. Those with the ids in others are locked by somebody
// else.
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
func (c *Chains) Found(rows []*table.Node) {
	for _, n := range rows {
		c.locked[n.ID] = n
		c.ask(n.Parent)
	}
}

// checkChain walks from where a node is planned to be up to the top.
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
