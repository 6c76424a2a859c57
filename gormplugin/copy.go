package gormplugin

import (
	"fmt"
	"reflect"

	"github.com/pathlock-go/pathlock/gormplugin/internal/copying"
	"github.com/pathlock-go/pathlock/gormplugin/internal/write"
	"gorm.io/gorm"
)

// CopyOption says more about a [Copy].
type CopyOption func(*copying.Request)

// CopyAs gives the copy's top row a name; the default is the name of the row that is copied.
func CopyAs(name string) CopyOption { return func(c *copying.Request) { c.Name = name } }

// SnapshotSource takes no path lock on what is copied, as [lockspec.Spec.SnapshotSource] does in a
// spec: the copy is of the subtree as it was at one instant, and waits for nobody who is about to
// change it.
func SnapshotSource() CopyOption { return func(c *copying.Request) { c.Snapshot = true } }

// CopyValues sets columns, by column or field name, of all rows of the copy, instead of copying
// them. A value may be an expression, such as gorm.Expr("UUID()"), which the database works out for
// each row; its columns are those of the row that is copied. The key of a table whose database does
// not number the rows itself has to be among them. The tree's own columns cannot be.
func CopyValues(values map[string]any) CopyOption {
	return func(c *copying.Request) { c.Values = values }
}

// CopyLeaves copies the leaves that hang in the subtree along: those of a registered leaf model,
// with values as for [CopyValues]. It takes one statement, however many they are.
func CopyLeaves(leaf any, values map[string]any) CopyOption {
	return func(c *copying.Request) { c.Leaves = append(c.Leaves, copying.LeafCopy{Model: leaf, Values: values}) }
}

// CopyAttached calls attach, once the rows have been copied, to copy what else belongs to them. It
// gets the transaction, and a query for which row is the copy of which, with the columns old_id and
// new_id, to join in SQL:
//
//	tx.Exec(`INSERT INTO labels (suite_id, text)
//		SELECT m.new_id, l.text FROM labels l JOIN (?) m ON m.old_id = l.suite_id`, pairs)
//
// An error of attach is Copy's.
func CopyAttached(attach func(tx, pairs *gorm.DB) error) CopyOption {
	return func(c *copying.Request) { c.Attach = append(c.Attach, attach) }
}

// Copy copies the row with the id, and its subtree, to below another row, which may be one of
// another tree of the model, or of the subtree itself: the copy is of what was there before. A
// parent that is nil, or a nil pointer, is the top, in a tree that has no root row. It returns how
// many rows of the model were copied, and fills dest, a pointer to a struct of the model, with the
// new top row. A leaf can be copied as well, to below another row of the model above.
//
// All columns of the model are copied, but for: the key, which the database gives (see
// [CopyValues]); the tree's own columns; the version, which begins at 0 unless [CopyValues] says
// otherwise, and the fence; the times of creation and update, which are now. Softly deleted rows
// are not copied, and no hooks run. Columns that the model does not have get their defaults. Tables
// that have a path of ids only are refused. Until the copied rows have their parents, their names
// are a slash and a number: the name column has to have room for the number of rows, and no CHECK
// may refuse the slash.
//
// The locks are S on the row, unless there is [SnapshotSource], and X on the new name slot.
// Whatever the lock store does, the rows that are copied are locked in the database for sharing
// until the transaction ends, so that the copy is of the subtree as it was at one instant; a row
// that joins it just then has all of it run again ([ErrRetry]). The number of statements does not
// depend on the number of rows.
//
// In a transaction of the caller's it takes part in that. Outside of one it has one of its own,
// which is run again while the database gives it up; what is given to [CopyAttached] may then be
// called more than once.
//
// Errors match [pathlock.ErrNotFound], [ErrNameTaken], [ErrRootRow] for the top of a tree with a
// root row, [pathlock.ErrInvalidPath], [ErrPathTooLong] where the path of any copied row would not
// fit, all before anything is written; but that a path of ids would not fit is seen when the new
// keys are there, and ends the transaction; [ErrUnsupported]; [pathlock.ErrPathChanged] where the
// rows below have other paths than their parents'; or what every write may fail with.
func Copy(db *gorm.DB, dest, id, parent any, opts ...CopyOption) (rows int64, err error) {
	p, t, err := subject(db, dest)
	if err != nil {
		return 0, err
	}
	c := &copying.Request{Table: t}
	for _, opt := range opts {
		opt(c)
	}
	into := reflect.ValueOf(dest)
	if into.Kind() != reflect.Pointer || into.IsNil() || into.Type().Elem() != t.Schema.ModelType {
		return 0, fmt.Errorf("%w: Copy needs a pointer to a %s", gorm.ErrInvalidValue, t.Schema.Name)
	}
	if write.HasCondition(db.Statement) {
		return 0, t.Unsupported("Copy takes no conditions")
	}
	if c.ID, err = t.KeyOf(id); err != nil {
		return 0, err
	}
	if c.Parent, err = t.ParentKey(parent); err != nil {
		return 0, err
	}
	x := &copying.Copier{Planner: p.planner}
	if err := x.Check(c); err != nil {
		return 0, err
	}
	err = p.operate(db, func(db *gorm.DB) error {
		return x.Run(db.Session(&gorm.Session{NewDB: true}).Model(t.Fresh()), c)
	})
	if err != nil {
		return 0, err
	}
	into.Elem().Set(c.Made)
	return c.Rows, nil
}
