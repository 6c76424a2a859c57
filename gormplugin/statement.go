package gormplugin

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

// statement is what the plugin's callbacks on one statement tell each other.
type statement struct {
	hold.Held
	table *table.Table
	// kind knows how the statement is written; nil for a copy, which is no statement of GORM's.
	kind kind
	// own is the transaction that the plugin began for the statement, and outer
	// what the statement ran on before.
	own   *txn.Handle
	outer gorm.ConnPool
	// slots are the places that the statement gives rows.
	slots []pathlock.Location
	// absent is set where an upsert inserts, since none of its rows were there.
	absent bool
	// rerun is set where the statement can be run again, should the database give it up.
	rerun *rerun
}

// statementKey is where a statement's state is kept, per instance.
const statementKey = "pathlock:statement"

// stateOf returns the state of a guarded statement, nil for any other.
func stateOf(db *gorm.DB) *statement {
	if value, ok := db.InstanceGet(statementKey); ok {
		st, _ := value.(*statement)
		return st
	}
	return nil
}

// begin is the first callback of a chain. For a guarded statement that runs in no transaction
// it surveys what will be needed, takes the path locks, and only then begins
// a transaction: in this order no row lock is ever held while waiting for a path lock.
//
// A survey reports whether the statement touches the tree. Where it does not, or where a hook
// makes it do so only later, the transaction is begun by GORM or by [writing.begin].
func (p *frame) begin(w *writer) func(*gorm.DB) {
	return func(db *gorm.DB) {
		if db.Error != nil || db.DryRun {
			return
		}
		db.Statement.Context = p.Join(db.Statement.Context)
		if db.Statement.SQL.Len() > 0 {
			// Raw SQL that is run by Create, Updates or Delete.
			p.wire.Watch(db)
			return
		}
		t, err := p.guardedTable(db.Statement, w.deletes)
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
		st := &statement{table: t, kind: w.kind(), Held: hold.Held{Note: "gorm: " + t.TableName}}
		db.InstanceSet(statementKey, st)
		elsewhere := p.ChooseManaged(db, w.chain(table.ResolverCallback))
		tx, err := p.TransactionOf(db)
		if err != nil {
			_ = db.AddError(err)
			return
		}
		if tx != nil {
			again.NoteHanded(db.Statement)
			return
		}
		st.rerun = p.newRerun(db)
		begun := false
		defer func() {
			// Also where a method of the caller's own types panics.
			if !begun {
				st.Release(db.Statement.Context)
			}
		}()
		touches, err := st.kind.survey(db, st)
		if err == nil && (touches || elsewhere) {
			// Elsewhere, GORM would begin a transaction that is not the plugin's.
			err = p.beginOwn(db, st)
			begun = err == nil
		}
		if err != nil {
			_ = db.AddError(err)
		}
	}
}

// beginOwn begins a transaction for a statement that runs in none.
func (p *frame) beginOwn(db *gorm.DB, st *statement) error {
	// What an earlier statement on the same gorm.Statement has left behind: GORM would commit this
	// transaction for it.
	db.Statement.Settings.Delete(fmt.Sprintf("%p", db.Statement) + "gorm:started_transaction")
	begun := db.Begin()
	if begun.Error != nil {
		return fmt.Errorf("gormplugin: begin: %w", begun.Error)
	}
	st.outer = db.Statement.ConnPool
	db.Statement.ConnPool = begun.Statement.ConnPool
	tx, err := p.TransactionOf(db)
	if err != nil {
		db.Statement.ConnPool = st.outer
		begun.Rollback()
		return err
	}
	st.own, _ = txn.Unwrapped(db.Statement.ConnPool).(*txn.Handle)
	st.HandTo(tx)
	return nil
}

// end makes the last callback of a chain that writes; execute runs such a chain.
func (p *frame) end(execute func(*gorm.DB) *gorm.DB) func(*gorm.DB) {
	return func(db *gorm.DB) {
		st := stateOf(db)
		txn.HaveRead(db.Statement.ConnPool)
		if st != nil {
			st.kind.explain(db, st)
		}
		p.explain(db, st)
		if st == nil {
			return
		}
		db.InstanceSet(statementKey, (*statement)(nil))
		st.kind.end(db)
		if st.own != nil {
			p.endOwn(db, st)
		}
		if st.rerun != nil && errors.Is(db.Error, fault.ErrRetry) {
			st.rerun.try(db, p.maxTries, execute)
		}
	}
}

// endOwn ends the transaction that the plugin began for a statement.
func (p *frame) endOwn(db *gorm.DB, st *statement) {
	db.Statement.ConnPool = st.outer
	if db.Error != nil {
		// The statement's own error is the one to report.
		_ = st.own.Rollback()
		return
	}
	if err := st.own.Commit(); err != nil {
		db.Error = err
	}
}
