package copying

import (
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/hold"
	"github.com/pathlock-go/pathlock/gormplugin/internal/statement"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
)

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
	return &statement.Statement{Table: req.Table, Held: hold.Held{Note: "copy in " + req.Table.TableName}}
}

// copyAlone copies in a transaction of the plugin's own, which begins when the path locks have been
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
	begun := false
	defer func() {
		if !begun {
			st.Release(db.Statement.Context)
		}
	}()
	if err := c.BeginTransaction(db, st); err != nil {
		return err
	}
	begun = true
	handle := st.Begun
	done := false
	defer func() {
		if !done {
			// What was given to CopyAttached panics, or failed: the error is reported already.
			_ = handle.Rollback()
		}
	}()
	if err := c.copyWithin(db, handle.Transaction, st, req, planned); err != nil {
		return err
	}
	done = true
	return handle.Commit()
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

// settleCopy works out where the copy goes and locks what it relies on. planned, unless nil, is
// what plain reads say.
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
