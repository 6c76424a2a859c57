package gormplugin

import (
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"gorm.io/gorm"
)

// statement is what the plugin's callbacks on one statement tell each other.
type statement struct {
	table *table
	// note says to those who collide with the statement's locks what it does.
	note string
	// scope and locks are who holds, and what was taken, before the transaction began.
	scope *pathlock.Scope
	locks []*pathlock.Lock
	// own is the transaction that the plugin began for the statement, and outer
	// what the statement ran on before.
	own   *handle
	outer gorm.ConnPool
	// seen are the rows that the survey found before the transaction, by id.
	seen map[any]*node
	// plan is what the survey of an UPDATE found, and removal what that of a DELETE did; nil if
	// there was none.
	plan    *plan
	removal *removal
	// slots are the places that the statement gives rows.
	slots []site
	// absent is set where an upsert inserts, since none of its rows were there.
	absent bool
	// nameless are the new rows whose path of ids waits for the key that the database gives them.
	nameless []*arrival
	// assigned is set once the statement's SET clause was put in by the plugin.
	assigned bool
	// columns undoes what the plugin has changed of the columns that the statement writes; nil if
	// nothing.
	columns func()
	// landings are what the statement puts at the top of trees, where that is asked for once it is
	// written.
	landings []*landing
	// fence is the highest one of the locks.
	fence uint64
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
func (p *Plugin) begin(w *writer, survey func(*gorm.DB, *statement) (bool, error)) func(*gorm.DB) {
	return func(db *gorm.DB) {
		if db.Error != nil || db.DryRun {
			return
		}
		db.Statement.Context = p.joined(db.Statement.Context)
		if db.Statement.SQL.Len() > 0 {
			// Raw SQL that is run by Create, Updates or Delete.
			p.watch(db)
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
		st := &statement{table: t, note: "gorm: " + t.name}
		db.InstanceSet(statementKey, st)
		elsewhere := p.choose(db, w.chain(resolverCallback))
		tx, err := p.connections(db)
		if err != nil {
			_ = db.AddError(err)
			return
		}
		if tx != nil {
			enter(db.Statement)
			return
		}
		st.rerun = p.newRerun(db)
		begun := false
		defer func() {
			// Also where a method of the caller's own types panics.
			if !begun {
				release(db.Statement.Context, st.locks)
			}
		}()
		touches, err := survey(db, st)
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
func (p *Plugin) beginOwn(db *gorm.DB, st *statement) error {
	// What an earlier statement on the same gorm.Statement has left behind: GORM would commit this
	// transaction for it.
	db.Statement.Settings.Delete(fmt.Sprintf("%p", db.Statement) + "gorm:started_transaction")
	begun := db.Begin()
	if begun.Error != nil {
		return fmt.Errorf("gormplugin: begin: %w", begun.Error)
	}
	st.outer = db.Statement.ConnPool
	db.Statement.ConnPool = begun.Statement.ConnPool
	tx, err := p.connections(db)
	if err != nil {
		db.Statement.ConnPool = st.outer
		begun.Rollback()
		return err
	}
	st.own, _ = unwrapped(db.Statement.ConnPool).(*handle)
	tx.scope = st.scope
	tx.keep(st.locks...)
	return nil
}

// end makes the last callback of a chain that writes; execute runs such a chain.
func (p *Plugin) end(execute func(*gorm.DB) *gorm.DB) func(*gorm.DB) {
	return func(db *gorm.DB) {
		st := stateOf(db)
		haveRead(db.Statement.ConnPool)
		p.explainTop(db, st)
		p.explain(db, st)
		if st == nil {
			return
		}
		db.InstanceSet(statementKey, (*statement)(nil))
		if st.assigned {
			delete(db.Statement.Clauses, "SET")
		}
		if st.columns != nil {
			st.columns()
		}
		if st.own != nil {
			p.endOwn(db, st)
		}
		if st.rerun != nil && errors.Is(db.Error, fault.ErrRetry) {
			st.rerun.try(db, p.maxTries, execute)
		}
	}
}

// endOwn ends the transaction that the plugin began for a statement.
func (p *Plugin) endOwn(db *gorm.DB, st *statement) {
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
