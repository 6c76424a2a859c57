package hold

import (
	"errors"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
)

// Rounds says how to plan and assert a write that locks what it relies on. P is its plan.
type Rounds[P any] struct {
	// Plan works out what the write does: by plain reads in the first round, by locking ones in the
	// last.
	Plan func(locking bool) (P, error)
	// Needs returns the path locks that a plan needs.
	Needs func(P) Demand
	// Assert row-locks what the plan relies on, and returns the plan as it works out under these
	// locks. Where [Keeper.Asserts] is not set it is skipped, unless always is set.
	Assert func(P) (P, error)
	always bool
	// Stale reports whether an error of Plan may come from an old snapshot; nil if none does.
	Stale func(error) bool
	// Moved reports whether an error of Assert says that the plan is out of date.
	Moved func(error) bool
}

// Settle plans a write, takes its path locks and asserts the plan, within the write's transaction.
// At first it believes plain reads. Where these turn out to be out of date, which they always are
// in a transaction with an old snapshot, it starts again with locking reads. It then does not wait
// for path locks: others may need the rows that are locked by then.
func Settle[P any](k *Keeper, db *gorm.DB, tx *txn.Transaction, h *Held, r Rounds[P]) (P, error) {
	round := 1
	for wait, locking := k.TransactionWait, false; ; wait, locking, round = pathlock.NoWait, true, 2 {
		planned, err := r.Plan(locking)
		if err != nil {
			if !locking && k.Asserts && r.Stale != nil && r.Stale(err) {
				continue
			}
			return planned, err
		}
		if err := k.acquireWithin(db, tx, h, r.Needs(planned), wait); err != nil || !k.Asserts && !r.always {
			return planned, err
		}
		actual, err := assertInStep(k, db, round, func() (P, error) { return r.Assert(planned) })
		if err == nil || locking || !r.Moved(err) {
			return actual, err
		}
	}
}

// errPanicked is the error of an assertion that a panic has ended.
var errPanicked = errors.New("gormplugin: a panic")

// assertInStep calls assert, which works on db, within a step that observers see.
func assertInStep[T any](k *Keeper, db *gorm.DB, attempt int, assert func() (T, error)) (found T, err error) {
	stmt := db.Statement
	outer := stmt.Context
	work, done := k.Locker.Step(outer, pathlock.Step{Kind: pathlock.StepAssert, Attempt: attempt})
	stmt.Context, err = work, errPanicked
	defer func() {
		stmt.Context = outer
		done(err)
	}()
	found, err = assert()
	return found, err
}

// IsOutdated reports whether an error can come from rows that were read from an old snapshot.
func IsOutdated(err error) bool {
	return errors.Is(err, pathlock.ErrNotFound) || errors.Is(err, pathlock.ErrPathChanged) || errors.Is(err, fault.ErrWouldCycle)
}

// HasMoved reports whether an error says that something is not where it was planned to be.
func HasMoved(err error) bool { return errors.Is(err, pathlock.ErrPathChanged) }
