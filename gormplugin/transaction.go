package gormplugin

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
)

// DefaultMaxTries is how often [Transaction], and a statement that runs in a transaction of its
// own, is tried; see [MaxTries].
const DefaultMaxTries = 10

// Transaction runs fn in a transaction under ctx and commits it, as [gorm.DB.Transaction] does. If
// the database aborts the transaction because of another one (see [ErrRetry]), it runs all of fn
// again, in a new transaction, after a random pause that grows: at most [DefaultMaxTries] times in
// all, and only within the first 15 seconds. So fn must change nothing but tx and the values that
// it passes to writes of guarded tables. These values are restored before each further try, and
// also after the last one if that fails.
//
// Inside another transaction it does not retry: whoever began that has to run all of it again.
func Transaction(ctx context.Context, db *gorm.DB, fn func(tx *gorm.DB) error, opts ...*sql.TxOptions) error {
	if _, nested := db.Statement.ConnPool.(gorm.TxCommitter); nested {
		return begun(db).WithContext(ctx).Transaction(fn, opts...)
	}
	ctx, handed := txn.WithJournal(ctx)
	var locker *pathlock.Locker
	if p, err := pluginOf(db); err == nil {
		locker = p.Locker
	}
	return txn.Retry(ctx, db, DefaultMaxTries, locker, func(ctx context.Context) error {
		err := db.WithContext(ctx).Transaction(fn, opts...)
		if err != nil && txn.IsRetryable(db, err) {
			handed.Undo()
		}
		return err
	})
}

// MaxTries bounds how often a statement in a transaction of its own is tried when the database
// aborts it in favour of another one (see [ErrRetry]). The default is [DefaultMaxTries]; 1 means no
// further try. After 15 seconds, no further try begins.
//
// A further try runs the whole statement again, in a new transaction, after a random pause that
// grows. Its hooks run again, as what they wrote was rolled back. Its values are those from before
// the first try: keys and paths that a failed try assigned are undone. So a hook must change
// nothing but its row and its transaction.
func MaxTries(n int) Option { return func(p *Plugin) { p.settings.MaxTries = max(n, 1) } }

// Outcome is how a transaction has ended: [Committed], [RolledBack] or [Unknown].
type Outcome = txn.Outcome

const (
	// Unknown says that the answer to the COMMIT was lost with the connection: see
	// [ErrOutcomeUnknown]. The transaction was committed as a whole, or not at all. If it rolled
	// back to a savepoint that the plugin did not see, nobody knows which part was undone.
	Unknown = txn.Unknown
	// Committed says that the database has committed the transaction.
	Committed = txn.Committed
	// RolledBack says that the database has nothing of the transaction, or nothing of the part
	// after a savepoint to which it was rolled back.
	RolledBack = txn.RolledBack
)

// AfterCommit calls fn once the transaction of tx has really been committed, its path locks are
// released, and its connection is free again: to send an event, to drop a cache, to start a job.
// Anybody may have begun the transaction: GORM for one statement, [gorm.DB.Transaction],
// [Transaction], or [gorm.DB.Begin]. In a hook of a model, tx is the hook's.
//
// fn is not called if the transaction was rolled back, or only went back to a savepoint that had
// been set before this call (a nested transaction that failed), or if nobody knows the outcome:
// for those, see [AfterEnd]. If a transaction or a statement is tried again, the functions of the
// failed try are forgotten.
//
// From this call on, raw SQL about savepoints is refused by a [*TransactionEndError] unless it has
// the form of GORM's own: use a nested transaction, or SavePoint and RollbackTo. What a procedure
// does with savepoints is not seen.
//
// Functions are called one after the other, in the order of registration, before Commit returns and
// on its goroutine. So a slow one delays the caller, whose request keeps its locks meanwhile. The
// context of fn has the values of tx's context, and outlives it, because the work must be done even
// if nobody waits for the answer. fn may use the DB, under this context or another, in transactions
// of its own. tx itself has ended. A crash loses calls still to come: write what must happen as a
// row in the transaction.
//
// A panic of fn does not change the outcome. The other functions are called, then the panic reaches
// the caller of Commit.
//
// A DryRun, which runs the hooks of its models, writes nothing: fn is not called.
//
// If tx has ended, the error says how. It matches [ErrUnmanagedTransaction] if tx is no
// transaction, or none that the plugin has begun, as in a hook under SkipDefaultTransaction. On
// MySQL and MariaDB, it is a [*TransactionEndError] if a statement such as CREATE TABLE has ended
// the transaction before. After this call, such statements are refused. fn is not called if there
// is an error.
func AfterCommit(tx *gorm.DB, fn func(ctx context.Context)) error {
	return AfterEnd(tx, func(ctx context.Context, outcome Outcome) {
		if outcome == Committed {
			fn(ctx)
		}
	})
}

// AfterEnd calls fn once the transaction of tx has ended, in whichever way. It works like
// [AfterCommit], with these differences:
//
//   - fn is called exactly once for each try, unless the process ends first. A DryRun does not call
//     it.
//   - Where tx is in a nested transaction that failed, outcome is [RolledBack], and fn is called at
//     the end of the outer transaction.
//   - Where the transaction ends otherwise than by Commit or Rollback, fn is called on the
//     goroutine that ends it. That is one of the plugin's if the context has ended. A panic is then
//     logged by GORM's logger.
func AfterEnd(tx *gorm.DB, fn func(ctx context.Context, outcome Outcome)) error {
	p, err := pluginOf(tx)
	if err != nil {
		return err
	}
	if tx.Error != nil {
		return tx.Error
	}
	if tx.DryRun {
		return nil
	}
	t, err := p.TransactionOf(tx)
	switch {
	case err != nil:
		return err
	case t == nil:
		return fmt.Errorf("%w: there is no transaction: use the tx of db.Transaction, of Begin, or of a hook of a statement that has one", ErrUnmanagedTransaction)
	}
	return t.AtEnd(tx.Statement.Context, fn)
}

// WithBeforeCommit returns a context under which fn is called in each transaction that the plugin
// begins and that has written, as its last step before the COMMIT: to check what is to be
// committed, or to write what belongs to it, such as an outbox or an audit record. tx is a session
// in that transaction. An error of fn rolls the transaction back and is returned by Commit. If the
// error asks for a retry (see [ErrRetry]), [Transaction] or a statement on a guarded table is tried
// again, and fn with it. A statement on another table is not: use [Transaction].
//
// fn must not end tx: Commit is an error there, as long as fn runs, and Rollback rolls everything
// back. Transactions that fn begins under the context of tx call no functions before their commits.
// In all transactions under the context, raw SQL that ends them is refused by a
// [*TransactionEndError], which on MySQL and MariaDB includes CREATE TABLE and the like.
//
// fn is not called if a transaction has only run SELECTs that write nothing. Raw SQL that begins
// with WITH counts as a write. On MySQL, MariaDB and PostgreSQL, so does a SELECT that calls any
// function but AVG, COUNT, MAX, MIN, SUM and a few others of the server; a function that only a
// view calls is not seen, and neither is what runs past GORM on the transaction's connection. If
// one context is derived from another, the outer one's function is called first.
//
// Nor is fn called for [gorm.DB.Exec] or a write under SkipDefaultTransaction outside of a
// transaction, in transactions of [gorm.DB.Connection], and in those that were begun under another
// context, whatever context their statements have.
func WithBeforeCommit(ctx context.Context, fn func(tx *gorm.DB) error) context.Context {
	return txn.WithBeforeCommit(ctx, fn)
}
