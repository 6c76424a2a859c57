package gormplugin

import (
	"context"
	"database/sql"

	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
)

// DefaultMaxTries is how often [Transaction], and a statement that runs in a transaction of its
// own, is tried; see [MaxTries].
const DefaultMaxTries = 10

// Transaction runs fn in a transaction under ctx and commits it, as [gorm.DB.Transaction] does.
// When the database gives the transaction up in favour of another one (see [ErrRetry]), it runs all
// of fn again, in a new transaction, after a random pause that grows: at most [DefaultMaxTries]
// times in all. So fn must change nothing but tx and the values that it hands to writes of guarded
// tables. These are restored before each further try, and after the last one if that is given up,
// too.
//
// Inside another transaction it does not retry: the whole transaction has to be run again, which
// only its beginner can do.
func Transaction(ctx context.Context, db *gorm.DB, fn func(tx *gorm.DB) error, opts ...*sql.TxOptions) error {
	if _, nested := db.Statement.ConnPool.(gorm.TxCommitter); nested {
		return begun(db).WithContext(ctx).Transaction(fn, opts...)
	}
	ctx, handed := txn.WithJournal(ctx)
	var steps txn.Steps
	if p, err := pluginOf(db); err == nil {
		steps = p.guard.Locker.Step
	}
	return txn.Persist(ctx, db, DefaultMaxTries, steps, func(ctx context.Context) error {
		err := db.WithContext(ctx).Transaction(fn, opts...)
		if err != nil && txn.IsRetryable(db, err) {
			handed.Undo()
		}
		return err
	})
}

// MaxTries bounds how often a statement in a transaction of its own is tried when the database
// gives it up in favour of another one (see [ErrRetry]). The default is [DefaultMaxTries]; 1 means
// no further try.
//
// A further try runs the whole statement again, in a new transaction, after a random pause that
// grows. Its hooks run again, as what they wrote was rolled back. Its values are those from before
// the first try: keys and paths that a failed try assigned are undone. So a hook must change
// nothing but its row and its transaction.
func MaxTries(n int) Option { return func(p *Plugin) { p.engine.MaxTries = max(n, 1) } }
