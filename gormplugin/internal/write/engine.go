package write

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Engine carries out the writes of one DB: it knows the guarded tables, and begins transactions.
type Engine struct {
	*txn.Guard
	*table.Catalogue
	// Asserts is set unless the path locks alone are to keep the tree right.
	Asserts bool
	// Tripwire is set unless all writes by raw SQL may pass.
	Tripwire bool
	// TransactionWait is how long a write inside a transaction waits for path locks.
	TransactionWait time.Duration
	// MaxTries bounds how often a statement in a transaction of its own is tried.
	MaxTries int
}

// Register adds the engine's callbacks to GORM's chains: one at each end, and one that replaces
// GORM's own writing callback. All of these places exist whether or not the DB was opened with
// SkipDefaultTransaction.
func (e *Engine) Register(db *gorm.DB) error {
	cb := db.Callback()
	creates := &writer{name: "gorm:create", chain: cb.Create().Get, verb: func(s *statement) verb { return &inserting{statement: s} }, operation: "insert", note: "insert into "}
	updates := &writer{name: "gorm:update", chain: cb.Update().Get, verb: func(s *statement) verb { return &updating{statement: s} }, operation: "update", note: "update of "}
	deletes := &writer{name: "gorm:delete", chain: cb.Delete().Get, verb: func(s *statement) verb { return &deleting{statement: s} }, deletes: true, operation: "delete", note: "delete from "}
	return errors.Join(
		cb.Create().Before("*").Register("pathlock:begin_create", e.begin(creates)),
		e.install(creates, cb.Create().Replace),
		cb.Create().After("*").Register("pathlock:end_create", e.end(cb.Create().Execute)),

		cb.Update().Before("*").Register("pathlock:begin_update", e.begin(updates)),
		e.install(updates, cb.Update().Replace),
		cb.Update().After("*").Register("pathlock:end_update", e.end(cb.Update().Execute)),

		cb.Delete().Before("*").Register("pathlock:begin_delete", e.begin(deletes)),
		e.install(deletes, cb.Delete().Replace),
		cb.Delete().After("*").Register("pathlock:end_delete", e.end(cb.Delete().Execute)),

		cb.Query().Before("*").Register("pathlock:watch_query", e.watchQuery),
		cb.Row().Before("*").Register("pathlock:watch_row", e.watchRow),
		cb.Raw().Before("*").Register("pathlock:watch_raw", e.watchExec),

		cb.Query().After("*").Register("pathlock:end_query", e.endRead),
		cb.Row().After("gorm:row").Register("pathlock:keep_rows", txn.KeepRows),
		cb.Row().After("*").Register("pathlock:end_row", e.endRead),
		cb.Raw().After("*").Register("pathlock:end_raw", e.endRead),
	)
}

// writer carries out one kind of write. It takes the place of GORM's own callback, so that no other
// callback runs between the assertion and the write, in whatever order the plugins were registered.
type writer struct {
	// name is that of GORM's callback.
	name string
	// chain returns the callbacks of the chain by name.
	chain func(name string) func(*gorm.DB)
	// gormWrite is the callback that had that place before: as a rule, GORM's own.
	gormWrite func(*gorm.DB)
	// verb makes the verb of one statement.
	verb    func(*statement) verb
	deletes bool
	// operation is what its statements do, in a word, and note the same before a table's name.
	operation, note string
	// code tells the callback from other plugins'.
	code uintptr
}

// install puts a writer in the place of GORM's callback.
func (e *Engine) install(w *writer, replace func(name string, fn func(*gorm.DB)) error) error {
	if w.gormWrite = w.chain(w.name); w.gormWrite == nil {
		return fmt.Errorf("gormplugin: %w: there is no callback %s", fault.ErrCallbacks, w.name)
	}
	callback := e.callback(w)
	w.code = reflect.ValueOf(callback).Pointer()
	return replace(w.name, callback)
}

// callback makes the callback for w.
func (e *Engine) callback(w *writer) func(*gorm.DB) {
	return func(db *gorm.DB) {
		txn.NoteWrite(db)
		defer txn.NoteReadOnly(db) // before the transaction ends, which GORM may have begun
		st := stateOf(db)
		if st == nil || db.Error != nil {
			if db.Error == nil && !db.DryRun {
				e.checkUnguarded(db, w.deletes)
			}
			w.gormWrite(db)
			return
		}
		if err := st.run(); err != nil && !errors.Is(db.Error, err) {
			st.fail(err)
		}
	}
}

// run carries out a guarded statement.
func (s *statement) run() (err error) {
	stmt, name := s.DB.Statement, s.writer.name
	if s.tx, err = s.TransactionOf(s.DB); err != nil {
		return err
	}
	if _, within := s.DB.Get(withinKey); s.tx != nil && !within {
		s.tx.Writing.Lock()
		defer s.tx.Writing.Unlock()
	}
	if stmt.SQL.Len() > 0 {
		return fmt.Errorf("%w: the SQL of a write to %s was built before %s", fault.ErrCallbacks, s.Table.TableName, name)
	}
	if t, err := s.guardedTable(stmt, s.writer.deletes); err != nil || t != s.Table {
		return errors.Join(err, fmt.Errorf("%w: the table of a write to %s was changed before %s", fault.ErrCallbacks, s.Table.TableName, name))
	}
	return s.settled(s.verb.Write())
}

// settled ends the transaction if a statement fails that has written something already, even if the
// caller ignores the error.
func (s *statement) settled(err error) error {
	if err != nil && s.written && s.tx != nil {
		s.tx.Fail(err)
	}
	return err
}

// checkUnguarded refuses a statement that another callback has directed to a guarded table since
// the chain began.
func (e *Engine) checkUnguarded(db *gorm.DB, deletes bool) {
	if db.Statement.SQL.Len() > 0 {
		return // raw SQL, which watch has seen
	}
	if t, err := e.guardedTable(db.Statement, deletes); err != nil || t != nil {
		_ = db.AddError(errors.Join(err, fmt.Errorf("%w: a write to %s began as a write to another table", fault.ErrCallbacks, db.Statement.Table)))
	}
}

// check refuses the statement where another plugin has taken the writer's place.
func (w *writer) check() error {
	if now := w.chain(w.name); now != nil && reflect.ValueOf(now).Pointer() == w.code {
		return nil
	}
	return fmt.Errorf("%w: %s was replaced: register that plugin before this one", fault.ErrCallbacks, w.name)
}

// write makes GORM write the statement. It notes an error before GORM translates it, since the
// translation does not tell in which index a row collides.
func (s *statement) write() {
	db, config := s.DB, s.DB.Config
	plain := *config
	plain.TranslateError = false
	db.Config = &plain
	s.writer.gormWrite(db)
	db.Config = config
	if s.cause = db.Error; s.cause != nil {
		db.Error = nil
		_ = db.AddError(s.cause)
	}
}

// Apply adds to the statement the clauses that the types of the model's columns would add when it
// is written, such as a condition on the version that was read. Later plans take them into account.
func (s *statement) Apply(clauses []clause.Interface) error {
	for _, c := range clauses {
		s.DB.Statement.AddClause(c)
	}
	return s.DB.Error
}

// builds reports whether the statement has a clause that GORM writes on this database.
func (s *statement) builds(name string) bool {
	_, stated := s.DB.Statement.Clauses[name]
	return stated && slices.Contains(s.DB.Statement.BuildClauses, name)
}

// unpinned gives the statement its own conditions back once it is written: a caller may go on using
// it.
func (s *statement) unpinned() (restore func()) {
	stmt, clauses := s.DB.Statement, s.DB.Statement.Clauses
	stmt.Clauses = maps.Clone(clauses)
	return func() { stmt.Clauses = clauses }
}

// ensureTransaction makes sure that the statement runs in a transaction and, in databases that have
// no row locks, that nobody else writes meanwhile.
func (s *statement) ensureTransaction() error {
	if s.tx == nil {
		// Hooks have run already, each on its own, and cannot be undone.
		s.retry = nil
		if err := s.beginTransaction(); err != nil {
			return err
		}
	}
	return s.becomeWriter()
}

// missed is the error of a write that has hit other rows than those that were locked and checked
// for it. It ends the transaction.
func (s *statement) missed(want, got int64) error {
	s.written = true
	return &fault.MissedRowsError{Table: s.Table.TableName, Planned: want, Written: got}
}

// writeParts writes the statement in parts, so that its size does not depend on the number of rows.
// For each part, pin restricts the statement to the rows with the ids, and returns how many of them
// it has to hit.
func (s *statement) writeParts(ids []any, pin func(ids []any) (must int)) (written int64, err error) {
	db, stmt := s.DB, s.DB.Statement
	size := table.MaxPlaceholders
	if one := stmt.ReflectValue.Kind() == reflect.Struct; s.builds("RETURNING") && (len(ids) > size || one && len(ids) > 1) {
		return 0, s.Table.Unsupported("RETURNING of %d rows: it takes a slice, as a struct gets one row, and at most %d rows", len(ids), size)
	}
	if len(ids) > size { // GORM may have begun no transaction, and all parts are one write
		if err := s.ensureTransaction(); err != nil {
			return 0, err
		}
	}
	parts := max((len(ids)+size-1)/size, 1)
	for i := range parts {
		part := ids[i*size : min((i+1)*size, len(ids))]
		must := pin(part)
		began := time.Now()
		s.write()
		if db.Error != nil {
			return written, db.Error
		}
		if rows := db.RowsAffected; rows > int64(len(part)) || rows < int64(must) && (len(ids) > 1 || s.op != nil) {
			return written, s.missed(int64(must), rows)
		}
		written += db.RowsAffected
		s.written = s.written || written > 0
		if i < parts-1 {
			table.Trace(db, began, stmt, db.RowsAffected, nil)
			stmt.SQL.Reset()
			stmt.Vars = nil
		}
	}
	db.RowsAffected = written
	return written, nil
}
