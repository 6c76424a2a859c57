package gormplugin

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// writer carries out one kind of write. It assumes the place of GORM's own callback, so that
// nobody's callback can come between what is asserted and what is written, whoever was registered
// when.
type writer struct {
	// name is that of GORM's callback.
	name string
	// chain returns the callbacks of the chain by name.
	chain func(name string) func(*gorm.DB)
	// write is what stood in that place before: GORM's own callback, as a rule.
	write func(*gorm.DB)
	// kind makes what knows how such a write is done, for one statement.
	kind    func() kind
	deletes bool
	// code tells the callback from anybody else's.
	code uintptr
}

// writing is one statement that is about to be written.
type writing struct {
	*writer
	*frame
	db *gorm.DB
	st *statement
	// tx is the transaction that it runs in; nil until begin was called, if it runs in none.
	tx *txn.Transaction
}

// install puts a writer in the place of GORM's callback.
func (p *frame) install(w *writer, replace func(name string, fn func(*gorm.DB)) error) error {
	if w.write = w.chain(w.name); w.write == nil {
		return fmt.Errorf("gormplugin: %w: there is no callback %s", fault.ErrCallbacks, w.name)
	}
	callback := p.callback(w)
	w.code = reflect.ValueOf(callback).Pointer()
	return replace(w.name, callback)
}

// callback makes the callback for w.
func (p *frame) callback(w *writer) func(*gorm.DB) {
	return func(db *gorm.DB) {
		st := stateOf(db)
		if st == nil || db.Error != nil {
			if db.Error == nil && !db.DryRun {
				p.checkUnguarded(db, w.deletes)
			}
			w.write(db)
			return
		}
		if err := p.run(w, db, st); err != nil && !errors.Is(db.Error, err) {
			_ = db.AddError(err)
		}
	}
}

// run carries out a guarded statement.
func (p *frame) run(w *writer, db *gorm.DB, st *statement) error {
	tx, err := p.TransactionOf(db)
	if err != nil {
		return err
	}
	if db.Statement.SQL.Len() > 0 {
		return fmt.Errorf("%w: the SQL of a write to %s was built before %s", fault.ErrCallbacks, st.table.TableName, w.name)
	}
	if t, err := p.guardedTable(db.Statement, w.deletes); err != nil || t != st.table {
		return errors.Join(err, fmt.Errorf("%w: the table of a write to %s was changed before %s", fault.ErrCallbacks, st.table.TableName, w.name))
	}
	return st.kind.write(&writing{writer: w, frame: p, db: db, st: st, tx: tx})
}

// checkUnguarded refuses a statement that has become one on a guarded table since the chain began.
func (p *frame) checkUnguarded(db *gorm.DB, deletes bool) {
	if db.Statement.SQL.Len() > 0 {
		return // raw SQL, which the tripwire has seen
	}
	if t, err := p.guardedTable(db.Statement, deletes); err != nil || t != nil {
		_ = db.AddError(errors.Join(err, fmt.Errorf("%w: a write to %s was one to another table when it began", fault.ErrCallbacks, db.Statement.Table)))
	}
}

// check refuses to go on where the writer's place has been taken by another plugin.
func (w *writer) check() error {
	if now := w.chain(w.name); now != nil && reflect.ValueOf(now).Pointer() == w.code {
		return nil
	}
	return fmt.Errorf("%w: %s was replaced: register that plugin before this one", fault.ErrCallbacks, w.name)
}

// apply has the types of the model's columns add to the statement what they would add when it is
// written: a condition on the version that was read, for one. What is planned afterwards takes them
// into account.
func (w *writing) apply(clauses []clause.Interface) error {
	for _, c := range clauses {
		w.db.Statement.AddClause(c)
	}
	return w.db.Error
}

// begin makes sure that the statement runs in a transaction, and that nobody else writes beside it
// in databases that have no row locks.
func (w *writing) begin() error {
	if w.tx == nil {
		// Hooks have run already, each on its own: they cannot be undone.
		w.st.rerun = nil
		if err := w.beginOwn(w.db, w.st); err != nil {
			return err
		}
		w.tx = w.st.own.Transaction
	}
	return w.BecomeWriter(w.db, w.tx, w.st.table.Above)
}

// missed ends the transaction, since a write has hit other rows than those that were locked and
// checked for it.
func (w *writing) missed(want, got int64) error {
	err := &fault.MissedRowsError{Table: w.st.table.TableName, Planned: want, Written: got}
	if w.tx != nil {
		w.tx.Abandon(err)
	}
	return err
}

// writeParts has the statement written in parts, which pin it to some of the rows each, so that the
// size of no statement depends on how many rows there are. Each part returns the rows that it may
// hit, and those of them that it has to hit.
func (w *writing) writeParts(ids []any, pin func(ids []any) (must int)) (written int64, err error) {
	db, stmt := w.db, w.db.Statement
	_, returning := stmt.Clauses["RETURNING"]
	size := table.MaxPlaceholders
	if returning && len(ids) > size {
		return 0, w.st.table.Unsupported("RETURNING of more than %d rows: write them in portions", size)
	}
	parts := max((len(ids)+size-1)/size, 1)
	for i := range parts {
		part := ids[i*size : min((i+1)*size, len(ids))]
		must := pin(part)
		began := time.Now()
		w.write(db)
		if db.Error != nil {
			if written > 0 {
				w.tx.Abandon(db.Error)
			}
			return written, db.Error
		}
		if rows := db.RowsAffected; rows > int64(len(part)) || rows < int64(must) && (rows > 0 || len(ids) > 1) {
			return written, w.missed(int64(must), rows)
		}
		written += db.RowsAffected
		if i < parts-1 {
			sql, vars := stmt.SQL.String(), stmt.Vars
			db.Logger.Trace(stmt.Context, began, func() (string, int64) { return db.Dialector.Explain(sql, vars...), db.RowsAffected }, nil)
			stmt.SQL.Reset()
			stmt.Vars = nil
		}
	}
	db.RowsAffected = written
	if stmt.Result != nil {
		stmt.Result.RowsAffected = written
	}
	return written, nil
}
