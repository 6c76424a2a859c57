package gormplugin

import (
	"context"
	"database/sql"

	"github.com/pathlock-go/pathlock/gormplugin/internal/again"
	"gorm.io/gorm"
)

// DefaultMaxTries is how often [Transaction], and a statement that runs in a transaction of its own, is tried; see [MaxTries].
const DefaultMaxTries = 10

// Transaction runs fn in a transaction and commits it, as [gorm.DB.Transaction] does, under ctx. When the database gives the
// transaction up in favour of another one (see [ErrRetry]), it runs all of fn again, in a new transaction,
// after a random pause that grows; at most [DefaultMaxTries] times in all. Hence fn must have no effect but on tx, and on the values that
// it hands to writes of guarded tables: those are put back to what they were before each try, and after the last one if that is given up, too.
//
// Inside another transaction it does not retry: the whole has to be run again, and only who began it can.
func Transaction(ctx context.Context, db *gorm.DB, fn func(tx *gorm.DB) error, opts ...*sql.TxOptions) error {
	if _, nested := db.Statement.ConnPool.(gorm.TxCommitter); nested {
		return db.WithContext(ctx).Transaction(fn, opts...)
	}
	ctx, handed := again.WithJournal(ctx)
	db = db.WithContext(ctx)
	return again.Persist(ctx, db, DefaultMaxTries, func() error {
		err := db.Transaction(fn, opts...)
		if err != nil && again.IsRetryable(db, err) {
			handed.Undo()
		}
		return err
	})
}
