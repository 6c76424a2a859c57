package gormplugin

import (
	"fmt"

	"github.com/pathlock-go/pathlock"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// site is a place in a tree, and the row that is, or is planned to be, there.
type site struct {
	tree pathlock.Tree
	path pathlock.Path
}

// becomeWriter makes sure that nobody else writes between the reads of the assertion and the end of the
// transaction, in databases that have no row locks: a write that touches no row, before the reads. In
// a transaction that was begun IMMEDIATE it changes nothing; in one that has read an older state it fails as busy.
func (p *Plugin) becomeWriter(db *gorm.DB, tx *transaction, t *table) error {
	if !p.dialect.soleWriter || !p.assert {
		return nil
	}
	tx.mu.Lock()
	done := tx.writing
	tx.mu.Unlock()
	if done {
		return nil
	}
	key := clause.Column{Name: t.key.DBName}
	_, err := t.direct(db).add("UPDATE ? SET ? = ? WHERE 1 = 0", clause.Table{Name: t.name}, key, key).exec()
	if err != nil {
		return fmt.Errorf("gormplugin: becoming the database's writer (begin transactions IMMEDIATE: _txlock=immediate): %w", err)
	}
	tx.mu.Lock()
	tx.writing = true
	tx.mu.Unlock()
	return nil
}

// lockChains row-locks the nodes and everything above them for sharing, and checks that
// each is where it was planned to be: that every path on the way down is the parent's path + "/" + name, and that nothing on
// the way is deleted. It returns what it has locked, by id. known are rows read before, which say whom to lock at once.
//
// Locking only the parent would not be enough: a rename further up that has not reached the
// parent's row yet would be missed where its UPDATE does not see rows newer than its snapshot.
// Where a check fails, the error is a [*PathChangedError].
func (p *Plugin) lockChains(db *gorm.DB, t *table, planned []*node, known map[any]*node) (map[any]*node, error) {
	locked := make(map[any]*node)
	asked := make(map[any]bool)
	var ids []any
	ask := func(id any) bool {
		if id == nil || asked[id] {
			return false
		}
		asked[id] = true
		ids = append(ids, id)
		return true
	}
	for _, n := range planned {
		for ask(n.id) && known[n.parent] != nil {
			n = known[n.parent]
		}
	}
	// One read, unless what was known is out of date: then the way up is found under locks.
	for len(ids) > 0 {
		found, err := t.byID(db, ids, p.dialect.share)
		if err != nil {
			return nil, err
		}
		ids = nil
		for id, n := range found {
			locked[id] = n
			ask(n.parent)
		}
	}
	for _, n := range planned {
		if err := t.checkChain(n, locked); err != nil {
			return nil, err
		}
	}
	return locked, nil
}

// checkChain walks from where a node is planned to be up to the top.
func (t *table) checkChain(planned *node, locked map[any]*node) error {
	changed := &PathChangedError{Table: t.name, ID: planned.id, Planned: planned.path}
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
