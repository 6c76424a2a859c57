package gormplugin

import (
	"fmt"
	"reflect"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/hold"
	"github.com/pathlock-go/pathlock/gormplugin/internal/statement"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"github.com/pathlock-go/pathlock/gormplugin/internal/write"
	"gorm.io/gorm"
)

// CopyOption says more about a [Copy].
type CopyOption func(*copying)

// CopyAs gives the copy's top row a name; the default is the name of the row that is copied.
func CopyAs(name string) CopyOption { return func(c *copying) { c.name = name } }

// SnapshotSource takes no path lock on what is copied, as [lockspec.Spec.SnapshotSource] does in a
// spec: the copy is of the subtree as it was at one instant, and waits for nobody who is about to
// change it.
func SnapshotSource() CopyOption { return func(c *copying) { c.snapshot = true } }

// CopyValues sets columns, by column or field name, of all rows of the copy, instead of copying
// them. A value may be an expression, such as gorm.Expr("UUID()"), which the database works out for
// each row; its columns are those of the row that is copied. The key of a table whose database does
// not number the rows itself has to be among them. The tree's own columns cannot be.
func CopyValues(values map[string]any) CopyOption {
	return func(c *copying) { c.values = values }
}

// CopyLeaves copies the leaves that hang in the subtree along: those of a registered leaf model,
// with values as for [CopyValues]. It takes one statement, however many they are.
func CopyLeaves(leaf any, values map[string]any) CopyOption {
	return func(c *copying) { c.leaves = append(c.leaves, leafCopy{leaf, values}) }
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
	return func(c *copying) { c.attach = append(c.attach, attach) }
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
	c := &copying{table: t, note: "copy in " + t.TableName}
	for _, opt := range opts {
		opt(c)
	}
	if c.dest = reflect.ValueOf(dest); c.dest.Kind() != reflect.Pointer || c.dest.IsNil() || c.dest.Type().Elem() != t.Schema.ModelType {
		return 0, fmt.Errorf("%w: Copy needs a pointer to a %s", gorm.ErrInvalidValue, t.Schema.Name)
	}
	if write.HasCondition(db.Statement) {
		return 0, t.Unsupported("Copy takes no conditions")
	}
	if c.id, err = t.KeyOf(id); err != nil {
		return 0, err
	}
	if c.parent, err = t.ParentKey(parent); err != nil {
		return 0, err
	}
	x := &copier{p.planner}
	if err := x.checkCopy(c); err != nil {
		return 0, err
	}
	err = p.operate(db, func(db *gorm.DB) error {
		db = db.Session(&gorm.Session{NewDB: true}).Model(t.Fresh())
		tx, err := p.owner.TransactionOf(db)
		if err != nil {
			return err
		}
		if tx == nil {
			return x.copyAlone(db, c)
		}
		return x.copyWithin(db, tx, &statement.Statement{Table: t, Held: hold.Held{Note: c.note}}, c, nil)
	})
	if err != nil {
		return 0, err
	}
	c.dest.Elem().Set(c.made)
	return c.rows, nil
}

// copying is a copy that was asked for, and what became of it.
type copying struct {
	table *table.Table
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

// copyAlone copies in a transaction of the plugin's own, which begins when the path locks have been
// granted.
func (p *copier) copyAlone(db *gorm.DB, c *copying) error {
	st := &statement.Statement{Table: c.table, Held: hold.Held{Note: c.note}}
	planned, err := p.planCopy(db, c, "")
	if err != nil {
		return p.Explained(db, nil, err)
	}
	if err := p.AcquireEarly(db, &st.Held, planned); err != nil {
		return err
	}
	begun := false
	defer func() {
		if !begun {
			st.Release(db.Statement.Context)
		}
	}()
	if err := p.BeginTransaction(db, st); err != nil {
		return err
	}
	begun = true
	own := st.Begun
	done := false
	defer func() {
		if !done {
			// What was given to CopyAttached panics, or failed: the error is reported already.
			_ = own.Rollback()
		}
	}()
	if err := p.copyWithin(db, own.Transaction, st, c, planned); err != nil {
		return err
	}
	done = true
	return own.Commit()
}

// copyWithin copies in a transaction. planned may be nil.
func (p *copier) copyWithin(db *gorm.DB, tx *txn.Transaction, st *statement.Statement, c *copying, planned *copyPlan) error {
	if err := p.BecomeWriter(db, tx, c.table.Above); err != nil {
		return p.Explained(db, st, err)
	}
	x, err := p.settleCopy(db, tx, st, c, planned)
	if err != nil {
		return p.Explained(db, st, err)
	}
	st.Slots = []pathlock.Location{x.to}
	return p.Explained(db, st, p.copyRows(db, tx, st, c, x))
}

// settleCopy works out where the copy goes and locks what it relies on. planned, unless nil, is what
// plain reads say.
func (p *copier) settleCopy(db *gorm.DB, tx *txn.Transaction, st *statement.Statement, c *copying, planned *copyPlan) (*copyPlan, error) {
	return hold.Settle(p.Keeper, db, tx, &st.Held, hold.Rounds[*copyPlan]{
		Plan: func(locking bool) (*copyPlan, error) {
			switch {
			case locking:
				return p.planCopy(db, c, p.Dialect.Share)
			case planned == nil:
				return p.planCopy(db, c, "")
			default:
				return planned, nil
			}
		},
		Needs:  func(x *copyPlan) hold.Demand { return x },
		Assert: func(x *copyPlan) (*copyPlan, error) { return x, p.assertCopy(db, c.table, x) },
		Stale:  hold.IsOutdated,
		Moved:  hold.HasMoved,
	})
}
