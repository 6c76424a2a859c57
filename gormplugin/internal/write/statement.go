package write

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"github.com/pathlock-go/pathlock/internal/gincontext"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// verb does what is particular to an INSERT, an UPDATE or a DELETE. Every statement has a verb of
// its own, which may keep what it finds out.
type verb interface {
	// Survey takes the path locks that are known before the transaction. It reports whether the
	// statement touches the tree.
	Survey() (touches bool, err error)
	// Write locks, asserts, completes the statement, has GORM write it, and writes the rest of the
	// tree that changes with it.
	Write() error
}

// statement is a write to a guarded table: what the plugin's callbacks on one statement of GORM's
// share, or a copy, or an assertion.
type statement struct {
	*Engine
	DB    *gorm.DB
	Table *table.Table
	// writer and verb know how the statement is written; nil for a copy and an assertion, which are
	// no statements of GORM's.
	writer *writer
	verb   verb
	// nodes are those whose assertion the caller asked for, which is never left out; nil for a
	// write.
	nodes *assertedNodes
	// op is the operation that the statement is part of, nil if there is none.
	op *Operation
	// tx is the transaction in which it runs; nil until ensureTransaction was called, if the caller
	// began none. begun is what the plugin began for the statement, and outer the connections that
	// the statement had before.
	tx    *txn.Transaction
	begun *txn.Handle
	outer gorm.ConnPool
	// Operation is what the statement does, in a word, where its context names no operation.
	Operation string
	// Note says what the statement does, to those whom its locks block.
	Note string
	// scope owns its path locks, and locks are those that were taken before the transaction began.
	scope *pathlock.Scope
	locks []*pathlock.Lock
	// Fence is the highest fence of the locks that were taken within the transaction, 0 if the lock
	// store was away.
	Fence uint64
	// written is set once a failure would leave the tree half changed: see settled.
	written bool
	// slots are the places that the statement gives to rows.
	slots []nameSlot
	// tops are the arrivals at the tops of trees that are checked again after the write.
	tops []*plan.TopArrival
	// madeUp is the name of all new rows that have neither a name nor an id yet, "" before there is
	// one. The locks of the survey are those of the write.
	madeUp string
	// childless is set if the assertion has shown that nothing hangs below the one row that moves.
	childless bool
	// cause is the error of the database that made the statement's own write fail, before GORM
	// translated it; nil if something else failed, such as an association.
	cause error
	// absent is set if an upsert inserts, because none of its rows are in the table.
	absent bool
	// maps are the rows that a Create gets as maps.
	maps *handedMaps
	// dirty is set if the survey may have found what will be rolled back. Then only what is read
	// under row locks counts.
	dirty bool
	// retry is set if the statement can be run again if the database aborts it.
	retry *retry
}

// nameSlot is where a statement puts a row.
type nameSlot struct {
	pathlock.Location
	row *table.Node
}

// statementKey is where a statement's state is kept, per instance.
const statementKey = "pathlock:statement"

// stateOf returns the state of a guarded statement, nil for any other.
func stateOf(db *gorm.DB) *statement { return instance[*statement](db, statementKey) }

// instance returns what is kept for a statement under a key, nil if nothing is.
func instance[T any](db *gorm.DB, key string) T {
	value, _ := db.InstanceGet(key)
	of, _ := value.(T)
	return of
}

// begin makes the first callback of a chain. For a guarded statement outside of a transaction it
// surveys what will be needed, takes the path locks, and only then begins a transaction: so a
// statement never waits for a path lock while it holds a row lock.
//
// If the survey does not touch the tree, or only a hook will make the statement do so, GORM or
// [statement.ensureTransaction] begins the transaction.
func (e *Engine) begin(w *writer) func(*gorm.DB) {
	return func(db *gorm.DB) {
		if db.Error != nil || db.DryRun {
			return
		}
		db.Statement.Context = gincontext.Join(db.Statement.Context)
		if db.Statement.SQL.Len() > 0 {
			// Raw SQL that Create, Updates or Delete runs.
			e.watchQuery(db)
			return
		}
		t, err := e.guardedTable(db.Statement, w.deletes)
		if err == nil && t == nil {
			err = checkUnregistered(db.Statement)
		}
		if err == nil {
			err = e.refuseReplace(db.Statement)
		}
		if err == nil && t != nil {
			err = e.beginGuarded(w, db, t)
		}
		_ = db.AddError(err) // if there is one
	}
}

// beginGuarded begins a statement on a guarded table.
func (e *Engine) beginGuarded(w *writer, db *gorm.DB, t *table.Table) error {
	if err := w.check(); err != nil {
		return err
	}
	s := &statement{Engine: e, DB: db, Table: t, writer: w, op: instance[*Operation](db, operationKey), Operation: w.operation, Note: w.note + t.TableName}
	s.verb = w.verb(s)
	db.InstanceSet(statementKey, s)
	elsewhere := e.ChooseManaged(db, w.chain(table.ResolverCallback))
	tx, err := e.TransactionOf(db)
	if err != nil {
		return err
	}
	if err := t.LearnSpellings(db); err != nil {
		return err
	}
	if tx != nil {
		txn.NoteHanded(db.Statement)
	} else {
		s.retry = s.newRetry()
	}
	if w.operation == "insert" {
		s.maps = replaceMaps(db.Statement)
	}
	if tx != nil {
		return nil
	}
	defer s.releaseUnlessBegun()
	s.dirty = e.Asserts && e.ReadsDirty(db)
	touches, err := s.verb.Survey()
	if s.dirty && err != nil && isOutdated(err) {
		touches, err = true, nil
	}
	if err != nil || !touches && !elsewhere {
		return err
	}
	// Elsewhere, GORM would begin a transaction that is not the plugin's.
	return s.beginTransaction()
}

// releaseUnlessBegun releases the statement's early locks if no transaction has begun. Deferred, it
// does so even if a method of the caller's own types panics.
func (s *statement) releaseUnlessBegun() {
	if s.begun == nil {
		txn.Release(s.DB.Statement.Context, s.locks)
	}
}

// beginTransaction begins a transaction for a statement that runs in none.
func (s *statement) beginTransaction() (err error) {
	stmt := s.DB.Statement
	// An earlier statement on the same gorm.Statement may have left this setting, for which GORM
	// would commit this transaction.
	stmt.Settings.Delete(fmt.Sprintf("%p", stmt) + "gorm:started_transaction")
	begun := s.DB.Begin()
	if begun.Error != nil {
		return fmt.Errorf("gormplugin: begin: %w", begun.Error)
	}
	s.outer, stmt.ConnPool = stmt.ConnPool, begun.Statement.ConnPool
	if s.tx, err = s.TransactionOf(s.DB); err != nil {
		stmt.ConnPool = s.outer
		begun.Rollback()
		return err
	}
	s.begun, _ = txn.Unwrapped(stmt.ConnPool).(*txn.Handle)
	s.tx.Inherit(s.scope, s.locks)
	return nil
}

// end makes the last callback of a chain that writes; execute runs such a chain.
func (e *Engine) end(execute func(*gorm.DB) *gorm.DB) func(*gorm.DB) {
	return func(db *gorm.DB) {
		st := stateOf(db)
		e.explain(db, st)
		if st == nil {
			return
		}
		db.InstanceSet(statementKey, (*statement)(nil))
		if st.begun != nil {
			db.Statement.ConnPool = st.outer
			if db.Error == nil {
				db.Error = st.begun.Commit()
			} else {
				_ = st.begun.Rollback() // the statement's own error is the one to report
			}
		}
		st.maps.giveBack(db)
		if st.retry != nil && errors.Is(db.Error, fault.ErrRetry) {
			st.retry.try(db, e.MaxTries, e.Locker, execute)
		}
		if result := db.Statement.Result; result != nil {
			// GORM leaves its error there if it tries to begin a transaction within another one.
			result.RowsAffected, result.Error = db.RowsAffected, db.Error
		}
	}
}

// Operation links an operation on one row, such as Rename, with the statement that carries it out.
type Operation struct {
	ID any
	// Alone is set if the id is the statement's only condition.
	Alone bool
	// Into is the struct that gets the row's new place, or the list of the arranged rows; invalid
	// if the caller has none.
	Into reflect.Value
	// Arranged are the rows that get new places instead of the one with the ID, if any do.
	Arranged *Arrangement
	// Along is how many rows the statement changed beside the row.
	Along int64
}

// operationKey is where the operation that a statement is part of is kept, per instance.
const operationKey = "pathlock:operation"

// Statement begins the statement, on the one live row that op is about, or on the arranged ones.
func (op *Operation) Statement(db *gorm.DB, t *table.Table) *gorm.DB {
	if op.Arranged != nil {
		db = db.Model(t.Fresh()).Where(t.KeyIn(table.Column(t.Key), slices.Collect(maps.Keys(op.Arranged.Parents))))
		db.Statement.Selects, db.Statement.Omits = nil, nil
		return db.InstanceSet(operationKey, op)
	}
	op.Alone = len(db.Statement.Clauses) == 0 && !db.Statement.Unscoped
	return db.Model(t.Fresh()).Where(clause.Eq{Column: table.Column(t.Key), Value: op.ID}).InstanceSet(operationKey, op)
}

// missed is the error of an operation's statement that hits no row. Any other statement may hit any
// number.
func (op *Operation) missed(t *table.Table, hits int) error {
	if op == nil || hits > 0 || op.Arranged != nil {
		return nil
	}
	return t.Missing(op.ID)
}

// wentAlong counts rows that a statement changed beside those that it was to change.
func (op *Operation) wentAlong(rows int64) {
	if op != nil {
		op.Along += rows
	}
}
