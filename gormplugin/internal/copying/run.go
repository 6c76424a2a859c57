package copying

import (
	"reflect"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/hold"
	"github.com/pathlock-go/pathlock/gormplugin/internal/statement"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"github.com/pathlock-go/pathlock/gormplugin/internal/write"
	"gorm.io/gorm"
)

// Copier copies subtrees.
type Copier struct{ *write.Planner }

// Request is a copy that was asked for, and what became of it.
type Request struct {
	Table *table.Table
	// ID and Parent are in plain form; Parent is nil for the top.
	ID, Parent any
	// Name is "" where the copy gets the name of the row.
	Name     string
	Snapshot bool
	Values   map[string]any
	Leaves   []LeafCopy
	Attach   []func(tx, pairs *gorm.DB) error

	Rows int64
	Made reflect.Value
}

// LeafCopy asks for the leaves of a model to be copied, too.
type LeafCopy struct {
	Model  any
	Values map[string]any
}

// Run copies what was asked for: in the transaction that db is in, or else in one of its own.
func (c *Copier) Run(db *gorm.DB, req *Request) error {
	tx, err := c.TransactionOf(db)
	if err != nil {
		return err
	}
	if tx == nil {
		return c.copyAlone(db, req)
	}
	return c.copyWithin(db, tx, newStatement(req), req, nil)
}

// newStatement returns the state of a copy.
func newStatement(req *Request) *statement.Statement {
	return &statement.Statement{Table: req.Table, Held: hold.Held{Operation: "copy", Note: "copy in " + req.Table.TableName}}
}

// copyAlone copies in a transaction of the plugin's own, which begins once the path locks are
// granted.
func (c *Copier) copyAlone(db *gorm.DB, req *Request) error {
	st := newStatement(req)
	planned, err := c.planCopy(db, req, "")
	if err != nil {
		return c.Explained(db, nil, err)
	}
	if err := c.AcquireEarly(db, &st.Held, planned); err != nil {
		return err
	}
	defer st.ReleaseUnlessBegun(db)
	if err := c.BeginTransaction(db, st); err != nil {
		return err
	}
	// What was given to CopyAttached may panic. After the commit, this does nothing.
	defer func() { _ = st.Begun.Rollback() }()
	if err := c.copyWithin(db, st.Begun.Transaction, st, req, planned); err != nil {
		return err
	}
	return st.Begun.Commit()
}

// copyWithin copies in a transaction. planned may be nil.
func (c *Copier) copyWithin(db *gorm.DB, tx *txn.Transaction, st *statement.Statement, req *Request, planned *plan) error {
	if err := c.BecomeWriter(db, tx, req.Table.Above); err != nil {
		return c.Explained(db, st, err)
	}
	x, err := c.settleCopy(db, tx, st, req, planned)
	if err != nil {
		return c.Explained(db, st, err)
	}
	st.Slots = []pathlock.Location{x.to}
	return c.Explained(db, st, c.copyRows(db, tx, st, req, x))
}

// settleCopy works out where the copy goes, and locks what it relies on. planned, unless nil, is
// the result of plain reads.
func (c *Copier) settleCopy(db *gorm.DB, tx *txn.Transaction, st *statement.Statement, req *Request, planned *plan) (*plan, error) {
	return hold.Settle(c.Keeper, db, tx, &st.Held, hold.Rounds[*plan]{
		Plan: func(locking bool) (*plan, error) {
			switch {
			case locking:
				return c.planCopy(db, req, c.Dialect.Share)
			case planned == nil:
				return c.planCopy(db, req, "")
			default:
				return planned, nil
			}
		},
		Needs:  func(x *plan) hold.Demand { return x },
		Assert: func(x *plan) (*plan, error) { return x, c.assertCopy(db, req.Table, x) },
		Stale:  hold.IsOutdated,
		Moved:  hold.HasMoved,
	})
}
