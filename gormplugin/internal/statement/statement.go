package statement

import (
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/again"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/hold"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
)

// Statement is what the plugin's callbacks on one statement tell each other.
type Statement struct {
	hold.Held
	Table *table.Table
	// Kind knows how the statement is written; nil for a copy, which is no statement of GORM's.
	Kind Kind
	// Begun is the transaction that the plugin began for the statement, and outer
	// what the statement ran on before.
	Begun *txn.Handle
	outer gorm.ConnPool
	// Slots are the places that the statement gives rows.
	Slots []pathlock.Location
	// Absent is set where an upsert inserts, since none of its rows were there.
	Absent bool
	// rerun is set where the statement can be run again, should the database give it up.
	rerun *rerun
}

// statementKey is where a statement's state is kept, per instance.
const statementKey = "pathlock:statement"

// stateOf returns the state of a guarded statement, nil for any other.
func stateOf(db *gorm.DB) *Statement {
	if value, ok := db.InstanceGet(statementKey); ok {
		st, _ := value.(*Statement)
		return st
	}
	return nil
}

// Begin is the first callback of a chain. For a guarded statement that runs in no transaction
// it surveys what will be needed, takes the path locks, and only then begins
// a transaction: in this order no row lock is ever held while waiting for a path lock.
//
// A survey reports whether the statement touches the tree. Where it does not, or where a hook
// makes it do so only later, the transaction is begun by GORM or by [Writing.Begin].
func (f *Frame) Begin(w *Writer) func(*gorm.DB) {
	return func(db *gorm.DB) {
		if db.Error != nil || db.DryRun {
			return
		}
		db.Statement.Context = f.Join(db.Statement.Context)
		if db.Statement.SQL.Len() > 0 {
			// Raw SQL that is run by Create, Updates or Delete.
			f.Wire.Watch(db)
			return
		}
		t, err := f.guardedTable(db.Statement, w.Deletes)
		if err != nil {
			_ = db.AddError(err)
			return
		}
		if t == nil {
			return
		}
		if err := w.check(); err != nil {
			_ = db.AddError(err)
			return
		}
		st := &Statement{Table: t, Kind: w.Kind(), Held: hold.Held{Note: "gorm: " + t.TableName}}
		db.InstanceSet(statementKey, st)
		elsewhere := f.ChooseManaged(db, w.Chain(table.ResolverCallback))
		tx, err := f.TransactionOf(db)
		if err != nil {
			_ = db.AddError(err)
			return
		}
		if tx != nil {
			again.NoteHanded(db.Statement)
			return
		}
		st.rerun = f.newRerun(db)
		begun := false
		defer func() {
			// Also where a method of the caller's own types panics.
			if !begun {
				st.Release(db.Statement.Context)
			}
		}()
		touches, err := st.Kind.Survey(db, st)
		if err == nil && (touches || elsewhere) {
			// Elsewhere, GORM would begin a transaction that is not the plugin's.
			err = f.BeginTransaction(db, st)
			begun = err == nil
		}
		if err != nil {
			_ = db.AddError(err)
		}
	}
}

// BeginTransaction begins a transaction for a statement that runs in none.
func (f *Frame) BeginTransaction(db *gorm.DB, st *Statement) error {
	// What an earlier statement on the same gorm.Statement has left behind: GORM would commit this
	// transaction for it.
	db.Statement.Settings.Delete(fmt.Sprintf("%p", db.Statement) + "gorm:started_transaction")
	begun := db.Begin()
	if begun.Error != nil {
		return fmt.Errorf("gormplugin: begin: %w", begun.Error)
	}
	st.outer = db.Statement.ConnPool
	db.Statement.ConnPool = begun.Statement.ConnPool
	tx, err := f.TransactionOf(db)
	if err != nil {
		db.Statement.ConnPool = st.outer
		begun.Rollback()
		return err
	}
	st.Begun, _ = txn.Unwrapped(db.Statement.ConnPool).(*txn.Handle)
	st.HandTo(tx)
	return nil
}

// End makes the last callback of a chain that writes; execute runs such a chain.
func (f *Frame) End(execute func(*gorm.DB) *gorm.DB) func(*gorm.DB) {
	return func(db *gorm.DB) {
		st := stateOf(db)
		txn.HaveRead(db.Statement.ConnPool)
		if st != nil {
			st.Kind.Explain(db, st)
		}
		f.Explain(db, st)
		if st == nil {
			return
		}
		db.InstanceSet(statementKey, (*Statement)(nil))
		st.Kind.End(db)
		if st.Begun != nil {
			f.endTransaction(db, st)
		}
		if st.rerun != nil && errors.Is(db.Error, fault.ErrRetry) {
			st.rerun.try(db, f.MaxTries, execute)
		}
	}
}

// endTransaction ends the transaction that the plugin began for a statement.
func (f *Frame) endTransaction(db *gorm.DB, st *Statement) {
	db.Statement.ConnPool = st.outer
	if db.Error != nil {
		// The statement's own error is the one to report.
		_ = st.Begun.Rollback()
		return
	}
	if err := st.Begun.Commit(); err != nil {
		db.Error = err
	}
}
