package gormplugin

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// site is a place in a tree, and the row that is, or is planned to be, there.
type site struct {
	tree pathlock.Tree
	path pathlock.Path
}

// becomeWriter makes sure that nobody else writes between the reads of the assertion and the end of
// the transaction, in databases that have no row locks: a write that touches no row, before the
// reads. In a transaction that was begun IMMEDIATE it changes nothing; in one that has read an
// older state it fails as busy.
func (p *keeper) becomeWriter(db *gorm.DB, tx *txn.Transaction, t *table) error {
	if !p.Dialect.SoleWriter || !p.assert {
		return nil
	}
	if tx.IsWriter() {
		return nil
	}
	key := clause.Column{Name: t.key.DBName}
	_, err := t.direct(db).add("UPDATE ? SET ? = ? WHERE 1 = 0", clause.Table{Name: t.name}, key, key).exec()
	if err != nil && p.Dialect.Classify(err) != dialect.FailureOther {
		return fmt.Errorf("gormplugin: becoming the database's writer (begin transactions IMMEDIATE: _txlock=immediate): %w", err)
	}
	if err != nil {
		// The table or the column is missing, or nothing can be written at all.
		return fmt.Errorf("gormplugin: writing to the table %s (AutoMigrate makes what is missing): %w", t.name, err)
	}
	tx.BecameWriter()
	return nil
}

// lockChains row-locks the nodes and everything above them for sharing, and checks that each is
// where it was planned to be: that every path on the way down is the parent's path + "/" + name,
// and that nothing on the way is deleted. It returns what it has locked, by id. known are rows read
// before, which say whom to lock at once.
//
// Locking only the parent would not be enough: a rename further up that has not reached the
// parent's row yet would be missed where its UPDATE does not see rows newer than its snapshot.
// Where a check fails, the error is a [*PathChangedError].
func (p *keeper) lockChains(db *gorm.DB, t *table, planned []*node, known map[any]*node) (map[any]*node, error) {
	return p.lockRest(db, newChains(t, planned, known, nil))
}

// lockRest locks what is not locked yet of c, and checks it: by one read, unless what was known is
// out of date. Then the way up is found under locks.
func (p *keeper) lockRest(db *gorm.DB, c *chains) (map[any]*node, error) {
	for ids := c.next(); len(ids) > 0; ids = c.next() {
		found, err := c.table.byID(db, ids, p.Dialect.Share)
		if err != nil {
			return nil, err
		}
		c.found(slices.Collect(maps.Values(found)))
	}
	for _, n := range c.planned {
		if err := c.table.checkChain(n, c.locked); err != nil {
			return nil, err
		}
	}
	return c.locked, nil
}

// chains are rows with everything above them, as far as it is known, on the way to being locked.
type chains struct {
	table   *table
	planned []*node
	locked  map[any]*node
	asked   map[any]bool
	ids     []any
}

// newChains returns the chains of planned. Those with the ids in others are locked by somebody
// else.
func newChains(t *table, planned []*node, known map[any]*node, others []any) *chains {
	c := &chains{table: t, planned: planned, locked: make(map[any]*node), asked: make(map[any]bool)}
	for _, id := range others {
		c.asked[id] = true
	}
	climbed := make(map[any]bool)
	for _, n := range planned {
		for n != nil && !climbed[n.id] {
			climbed[n.id] = true
			c.ask(n.id)
			n = known[n.parent]
		}
	}
	return c
}

// ask notes a row that is to be locked.
func (c *chains) ask(id any) {
	if id != nil && !c.asked[id] {
		c.asked[id] = true
		c.ids = append(c.ids, id)
	}
}

// next returns the rows to be locked now.
func (c *chains) next() []any {
	ids := c.ids
	c.ids = nil
	return ids
}

// found notes rows that have been locked, and asks for what is above them.
func (c *chains) found(rows []*node) {
	for _, n := range rows {
		c.locked[n.id] = n
		c.ask(n.parent)
	}
}

// checkChain walks from where a node is planned to be up to the top.
func (t *table) checkChain(planned *node, locked map[any]*node) error {
	changed := &fault.PathChangedError{Table: t.name, ID: planned.id, Planned: planned.path}
	n := locked[planned.id]
	if n == nil {
		return changed
	}
	if n.path != planned.path || n.ids != planned.ids || n.tree != planned.tree {
		changed.Actual = n.path
		return changed
	}
	for range pathlock.MaxDepth + 1 {
		above := locked[n.parent]
		if n.parent != nil && (above == nil || above.tree != n.tree) {
			return changed
		}
		if actual, ok := t.inPlace(n, above); !ok {
			changed.Actual = actual
			return changed
		}
		if n.parent == nil {
			return nil
		}
		n = above
	}
	return changed
}
