package gormplugin

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"gorm.io/gorm"
)

// CopyOption says more about a [Copy].
type CopyOption func(*copying)

// CopyAs gives the copy's top row a name; the default is the name of the row that is copied.
func CopyAs(name string) CopyOption { return func(c *copying) { c.name = name } }

// SnapshotSource takes no path lock on what is copied, as [lockspec.Spec.SnapshotSource] does in a spec: the copy is of the subtree as it was at
// one instant, and waits for nobody who is about to change it.
func SnapshotSource() CopyOption { return func(c *copying) { c.snapshot = true } }

// CopyValues sets columns, by column or field name, of all rows of the copy, instead of copying them. A value may be an
// expression, such as gorm.Expr("UUID()"), which the database works out for each row; its columns are those of the row that is
// copied. The key of a table whose database does not number the rows itself has to be among them. The tree's own columns cannot be.
func CopyValues(values map[string]any) CopyOption {
	return func(c *copying) { c.values = values }
}

// CopyLeaves copies the leaves that hang in the subtree along: those of a registered leaf model, with values as
// for [CopyValues]. It takes one statement, however many they are.
func CopyLeaves(leaf any, values map[string]any) CopyOption {
	return func(c *copying) { c.leaves = append(c.leaves, leafCopy{leaf, values}) }
}

// CopyAttached calls attach, once the rows have been copied, to copy what else belongs to them. It gets the transaction, and a
// query for which row is the copy of which, with the columns old_id and new_id, to join in SQL:
//
//	tx.Exec(`INSERT INTO labels (suite_id, text)
//		SELECT m.new_id, l.text FROM labels l JOIN (?) m ON m.old_id = l.suite_id`, pairs)
//
// An error of attach is Copy's.
func CopyAttached(attach func(tx, pairs *gorm.DB) error) CopyOption {
	return func(c *copying) { c.attach = append(c.attach, attach) }
}

// Copy copies the row with the id, and its subtree, to below another row, which may be one of another tree of the model, or of the subtree itself: the copy is of what was
// there before. A parent that is nil, or a nil pointer, is the top, in a tree that has no root row. It returns how many rows of the model were copied, and fills dest, a pointer to a
// struct of the model, with the new top row. A leaf can be copied as well, to below another row of the model above.
//
// All columns of the model are copied, but for: the key, which the database gives (see [CopyValues]); the tree's own columns; the version,
// which begins at 0 unless [CopyValues] says otherwise, and the fence; the times of creation and update, which are now. Softly deleted rows are not copied, and no hooks run. Columns that the model
// does not have get their defaults. Tables that have a path of ids only are refused. The parent column has to be nullable, or a signed number, where the copied row has descendants.
//
// The locks are S on the row, unless there is [SnapshotSource], and X on the new name slot. Whatever the lock store does, the rows that are copied are locked in
// the database for sharing until the transaction ends, so that the copy is of the subtree as it was at one instant; a row that joins it
// just then has all of it run again ([ErrRetry]). The number of statements does not depend on the number of rows.
//
// In a transaction of the caller's it takes part in that. Outside of one it has one of its own, which is run again while the
// database gives it up; what is given to [CopyAttached] may then be called more than once.
//
// Errors match [pathlock.ErrNotFound], [ErrNameTaken], [pathlock.ErrInvalidPath], [ErrPathTooLong] where the path of any copied row would not fit, all before anything
// is written; but that a path of ids would not fit is seen when the new keys are there, and ends the transaction; [ErrUnsupported]; [pathlock.ErrPathChanged] where the rows below have other paths than their parents'; or what every write may fail with.
func Copy(db *gorm.DB, dest, id, parent any, opts ...CopyOption) (rows int64, err error) {
	p, t, err := subject(db, dest)
	if err != nil {
		return 0, err
	}
	c := &copying{table: t, note: "copy in " + t.name}
	for _, opt := range opts {
		opt(c)
	}
	if c.dest = reflect.ValueOf(dest); c.dest.Kind() != reflect.Pointer || c.dest.IsNil() || c.dest.Type().Elem() != t.schema.ModelType {
		return 0, fmt.Errorf("%w: Copy needs a pointer to a %s", gorm.ErrInvalidValue, t.schema.Name)
	}
	if hasCondition(db.Statement) {
		return 0, unsupported(t, "Copy takes no conditions")
	}
	if c.id, err = t.keyOf(id); err != nil {
		return 0, err
	}
	if c.parent, err = t.parentKey(parent); err != nil {
		return 0, err
	}
	if err := p.checkCopy(c); err != nil {
		return 0, err
	}
	err = p.operate(db, func(db *gorm.DB) error {
		db = db.Session(&gorm.Session{NewDB: true}).Set(internalKey, true)
		tx, err := p.connections(db)
		if err != nil {
			return err
		}
		if tx == nil {
			return p.copyAlone(db, c)
		}
		return p.copyWithin(db, tx, &statement{table: t, note: c.note}, c, nil)
	})
	if err != nil {
		return 0, err
	}
	c.dest.Elem().Set(c.made)
	return c.rows, nil
}

// copying is a copy that was asked for, and what became of it.
type copying struct {
	table *table
	note  string
	dest  reflect.Value
	// id and parent are in plain form; parent is nil for the top.
	id, parent any
	// name is "" where the copy has the name of the row.
	name     string
	snapshot bool
	values   map[string]any
	leaves   []leafCopy
	attach   []func(tx, pairs *gorm.DB) error

	rows int64
	made reflect.Value
}

// leafCopy is the copying of leaves along.
type leafCopy struct {
	model  any
	values map[string]any
}

// copyPlan is where a copy goes from and to.
type copyPlan struct {
	source, above *node
	// after is the new top row, without its id.
	after    *node
	from, to site
	snapshot bool
	// chains are the nodes that must stay where they are, and known what was read of the rows above them.
	chains []*node
	known  map[any]*node
}

// requests implements [demand].
func (x *copyPlan) requests(note string, wait time.Duration) []pathlock.Request {
	op := lockspec.Operation{Kind: lockspec.OpCopy, Node: x.from.path, Dest: x.to.path.Parent(), Name: x.to.path.Base(), Snapshot: x.snapshot}
	if x.from.tree == x.to.tree {
		return []pathlock.Request{{Tree: x.to.tree, Wait: wait, Note: note, Claims: op.Claims(lockspec.NameSlot)}}
	}
	requests := []pathlock.Request{{Tree: x.to.tree, Wait: wait, Note: note, Claims: []pathlock.Claim{pathlock.X(x.to.path)}}}
	if !x.snapshot {
		requests = append(requests, pathlock.Request{Tree: x.from.tree, Wait: wait, Note: note, Claims: []pathlock.Claim{pathlock.S(x.from.path)}})
	}
	return inOrder(requests)
}

// copyAlone copies in a transaction of the plugin's own, which begins when the path locks have been granted.
func (p *Plugin) copyAlone(db *gorm.DB, c *copying) error {
	st := &statement{table: c.table, note: c.note}
	planned, err := p.planCopy(db, c, "")
	if err != nil {
		return p.explained(db, nil, err)
	}
	if err := p.acquireEarly(db, st, planned); err != nil {
		return err
	}
	if err := p.beginOwn(db, st); err != nil {
		release(db.Statement.Context, st.locks)
		return err
	}
	own := st.own
	done := false
	defer func() {
		if !done {
			// What was given to CopyAttached panics, or failed: the error is reported already.
			_ = own.Rollback()
		}
	}()
	if err := p.copyWithin(db, own.transaction, st, c, planned); err != nil {
		return err
	}
	done = true
	return own.Commit()
}

// copyWithin copies in a transaction. planned may be nil.
func (p *Plugin) copyWithin(db *gorm.DB, tx *transaction, st *statement, c *copying, planned *copyPlan) error {
	if err := p.becomeWriter(db, tx, c.table.above); err != nil {
		return p.explained(db, st, err)
	}
	x, err := p.settleCopy(db, tx, st, c, planned)
	if err != nil {
		return p.explained(db, st, err)
	}
	st.slots = []site{x.to}
	return p.explained(db, st, p.copyRows(db, tx, st, c, x))
}

// settleCopy works out where the copy goes and locks what it relies on. As settleCreate, it believes plain reads in its first
// round and locking ones in its last.
func (p *Plugin) settleCopy(db *gorm.DB, tx *transaction, st *statement, c *copying, planned *copyPlan) (*copyPlan, error) {
	const lastRound = 1
	for round := 0; ; round++ {
		lock, wait := rowLock(""), p.transactionWait
		if round == lastRound {
			lock, wait, planned = p.dialect.share, pathlock.NoWait, nil
		}
		x, err := planned, error(nil)
		if x == nil {
			x, err = p.planCopy(db, c, lock)
		}
		if err != nil {
			if round < lastRound && p.assert && isOutdated(err) {
				continue
			}
			return nil, err
		}
		if err := p.acquireWithin(db, tx, st, x, wait); err != nil {
			return nil, err
		}
		if !p.assert {
			return x, nil
		}
		err = p.assertCopy(db, c.table, x)
		if err == nil || round == lastRound || !errors.Is(err, pathlock.ErrPathChanged) {
			return x, err
		}
	}
}

// planCopy reads where the row is and where its copy is to be.
func (p *Plugin) planCopy(db *gorm.DB, c *copying, lock rowLock) (*copyPlan, error) {
	t := c.table
	x := &copyPlan{snapshot: c.snapshot, known: make(map[any]*node)}
	ids := []any{c.id}
	if t.isLeaf() {
		leaf, err := t.byID(db, ids, lock)
		if err != nil {
			return nil, err
		}
		if x.source = leaf[c.id]; x.source == nil {
			return nil, fmt.Errorf("%w: %s %v", pathlock.ErrNotFound, t.name, c.id)
		}
		ids = []any{x.source.parent}
	}
	if c.parent != nil && !slices.Contains(ids, c.parent) {
		ids = append(ids, c.parent)
	}
	found, err := t.above.rows(db, ids, lock)
	if err != nil {
		return nil, err
	}
	maps.Copy(x.known, found)
	need := func(id any) *node {
		n := found[id]
		switch {
		case n == nil && err == nil:
			err = fmt.Errorf("%w: %s %v", pathlock.ErrNotFound, t.above.name, id)
		case n != nil && !slices.Contains(x.chains, n):
			x.chains = append(x.chains, n)
		}
		return n
	}
	if !t.isLeaf() {
		x.source = need(c.id)
	} else if parent := need(x.source.parent); parent != nil {
		x.source.tree = parent.tree
		t.follow(x.source, parent)
	}
	if c.parent != nil {
		x.above = need(c.parent)
	}
	if err != nil {
		return nil, err
	}
	if c.parent == nil {
		if err := t.checkTop(db, x.source.tree); err != nil {
			return nil, err
		}
	}
	return x, t.placeCopy(c, x)
}

// placeCopy works out the new top row's place.
func (t *table) placeCopy(c *copying, x *copyPlan) error {
	x.after = &node{parent: c.parent, tree: x.source.tree, name: x.source.name}
	if c.name != "" {
		x.after.name = c.name
	}
	if x.above != nil {
		x.after.tree = x.above.tree
	}
	t.follow(x.after, x.above)
	var err error
	if x.to, err = t.siteOf(x.after, false); err != nil {
		return err
	}
	if x.from.tree, err = t.above.treeOf(x.source.tree); err != nil {
		return err
	}
	x.from.path, err = pathlock.ParsePath(x.source.path)
	return err
}

// assertCopy row-locks the row, where it is to be copied to, and everything above both, and checks that all of it is where it was
// planned to be.
func (p *Plugin) assertCopy(db *gorm.DB, t *table, x *copyPlan) error {
	if _, err := p.lockChains(db, t.above, x.chains, x.known); err != nil {
		return err
	}
	if !t.isLeaf() {
		return nil
	}
	found, err := t.byID(db, []any{x.source.id}, p.dialect.share)
	if err != nil {
		return err
	}
	if n := found[x.source.id]; n == nil || n.parent != x.source.parent || n.name != x.source.name {
		return &PathChangedError{Table: t.name, ID: x.source.id, Planned: x.source.path}
	}
	return nil
}
