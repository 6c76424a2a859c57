package gormplugin

import (
	"errors"
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
	err := db.Session(&gorm.Session{NewDB: true}).Set(internalKey, true).
		Exec("UPDATE ? SET ? = ? WHERE 1 = 0", clause.Table{Name: t.name}, key, key).Error
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
	if n.path != planned.path || n.tree != planned.tree {
		changed.Actual = n.path
		return changed
	}
	for range pathlock.MaxDepth + 1 {
		if n.parent == nil {
			if n.path == topPath(n.name) {
				return nil
			}
			changed.Actual = topPath(n.name)
			return changed
		}
		above := locked[n.parent]
		if above == nil || above.tree != n.tree {
			return changed
		}
		if actual := above.path + "/" + n.name; n.path != actual {
			changed.Actual = actual
			return changed
		}
		n = above
	}
	return changed
}

// topPath is the path of a row without a parent: a root row has no name.
func topPath(name string) string {
	if name == "" {
		return ""
	}
	return "/" + name
}

// Assert is the guard for those who write below a node by other means than GORM's create,
// update and delete, such as raw SQL. In the transaction tx it row-locks the node with the id, and its ancestors, the root first,
// and checks that every path on the way is the parent's path + "/" + name and that nothing
// is deleted. It returns where the node is; there it stays until the end of tx.
//
// It takes no path lock. model is a registered one, without a leaf. Errors match
// [pathlock.ErrNotFound], [pathlock.ErrPathChanged], [ErrRetry] or [ErrUnmanagedTransaction], the last
// one also where tx is no transaction.
func Assert(tx *gorm.DB, model, id any) (pathlock.Location, error) {
	p, err := pluginOf(tx)
	if err != nil {
		return pathlock.Location{}, err
	}
	t, err := p.tableFor(model)
	if err != nil {
		return pathlock.Location{}, err
	}
	db := tx.Session(&gorm.Session{NewDB: true}).Set(internalKey, true)
	location, err := p.assertNode(db, t, id)
	if err == nil {
		return location, nil
	}
	_ = db.AddError(err)
	p.explain(db, &statement{table: t})
	return pathlock.Location{}, db.Error
}

// assertNode does the work of [Assert].
func (p *Plugin) assertNode(db *gorm.DB, t *table, id any) (pathlock.Location, error) {
	running, err := p.connections(db)
	switch {
	case err != nil:
		return pathlock.Location{}, err
	case running == nil:
		return pathlock.Location{}, fmt.Errorf("%w: Assert needs a transaction", ErrUnmanagedTransaction)
	}
	if err := p.becomeWriter(db, running, t.above); err != nil {
		return pathlock.Location{}, err
	}
	key, err := plain(id)
	if err != nil {
		return pathlock.Location{}, err
	}
	if t.isLeaf() {
		return pathlock.Location{}, unsupported(t, "a leaf has no path of its own to assert: assert its parent")
	}
	planned, err := t.climb(db, []any{key})
	if err != nil {
		return pathlock.Location{}, err
	}
	n, above := planned[key], []*node(nil)
	if n != nil && planned[n.parent] != nil {
		above = append(above, planned[n.parent])
	}
	// The ancestors first, as everybody does. What an old snapshot has wrong about them does not matter here.
	if _, err := p.lockChains(db, t, above, planned); err != nil && !errors.Is(err, pathlock.ErrPathChanged) {
		return pathlock.Location{}, err
	}
	locked, err := t.byID(db, []any{key}, p.dialect.update)
	if err != nil {
		return pathlock.Location{}, err
	}
	if n = locked[key]; n == nil {
		return pathlock.Location{}, fmt.Errorf("%w: %s %v", pathlock.ErrNotFound, t.name, id)
	}
	if _, err := p.lockChains(db, t, []*node{n}, planned); err != nil {
		return pathlock.Location{}, err
	}
	return t.location(n)
}
