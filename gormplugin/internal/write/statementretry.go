package write

import (
	"context"
	"errors"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
)

// retry has what it takes to run a statement again.
type retry struct {
	// pristine is the statement as it was before its first callback. It is never run itself.
	pristine *gorm.DB
	// values are those of the caller's rows.
	values *txn.CallerValues
}

// retryKey marks, per instance, the further tries of a statement, which have no further tries of
// their own.
const retryKey = "pathlock:retry"

// newRetry prepares further tries of a statement that runs in no transaction yet. It returns nil if
// there must be none.
func (s *statement) newRetry() *retry {
	db := s.DB
	// Operations, such as Rename, repeat all of their statements themselves.
	if _, isFurther := db.InstanceGet(retryKey); isFurther || s.MaxTries <= 1 || s.op != nil {
		return nil
	}
	pristine := db.Session(&gorm.Session{Initialized: true})
	pristine.Statement.BuildClauses = db.Statement.BuildClauses
	return &retry{pristine: pristine, values: txn.Remember(db.Statement)}
}

// try runs a statement again until the database does not abort it, or it has been tried often
// enough. execute is its chain of callbacks.
func (r *retry) try(db *gorm.DB, tries int, locker *pathlock.Locker, execute func(*gorm.DB) *gorm.DB) {
	failed := db.Error
	_ = txn.Retry(db.Statement.Context, db, tries, locker, func(ctx context.Context) error {
		if err := failed; err != nil {
			failed = nil
			return err // of the first try
		}
		r.values.Restore()
		attempt := r.pristine.Session(&gorm.Session{Initialized: true})
		attempt.Statement.Context = ctx
		attempt.Statement.BuildClauses = r.pristine.Statement.BuildClauses
		attempt.InstanceSet(retryKey, true)
		// A panic of a hook must not leave the transaction open.
		defer func() {
			if st := stateOf(attempt); st != nil && st.begun != nil {
				_ = st.begun.Rollback()
			}
		}()
		execute(attempt)
		db.Error, db.RowsAffected = attempt.Error, attempt.RowsAffected
		return attempt.Error
	})
	if errors.Is(db.Error, fault.ErrRetry) {
		r.values.Restore()
	}
}
