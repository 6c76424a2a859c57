package write

import (
	"context"
	"errors"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
)

// steps says how to plan and assert a write that locks what it relies on. P is its plan, and says
// which path locks that needs.
type steps[P plan.Demand] struct {
	// Plan works out what the write does: by plain reads at first, and by locking ones in the
	// second attempt.
	Plan func(locking bool) (P, error)
	// Assert row-locks what the plan relies on, and returns the plan as it works out under these
	// locks. Where [Engine.Asserts] is not set it is skipped, unless Always is set.
	Assert func(P) (P, error)
	Always bool
}

// planAndAssert plans a write, takes its path locks and asserts the plan, within the write's
// transaction. At first it believes plain reads. Where these turn out to be out of date, which they
// always are in a transaction with an old snapshot, it starts again with locking reads. It then
// does not wait for path locks: others may need the rows that are locked by then.
func planAndAssert[P plan.Demand](e *Engine, db *gorm.DB, tx *txn.Transaction, h *held, r steps[P]) (P, error) {
	attempt := 1
	for wait, locking := e.TransactionWait, false; ; wait, locking, attempt = pathlock.NoWait, true, 2 {
		planned, err := r.Plan(locking)
		if err != nil {
			if !locking && e.Asserts && isOutdated(err) {
				continue
			}
			return planned, err
		}
		if err := e.acquireWithin(db, tx, h, planned, wait); err != nil || !e.Asserts && !r.Always {
			return planned, err
		}
		actual := planned
		err = txn.Steps(e.Locker.Step).InStep(db.Statement.Context, pathlock.Step{Kind: pathlock.StepAssert, Attempt: attempt}, func(ctx context.Context) (err error) {
			outer := db.Statement.Context
			db.Statement.Context = ctx
			defer func() { db.Statement.Context = outer }()
			actual, err = r.Assert(planned)
			return err
		})
		if err == nil || locking || !hasMoved(err) {
			return actual, err
		}
	}
}

// targeting is a plan of an UPDATE or a DELETE.
type targeting interface {
	plan.Demand
	On() *plan.Basis
}

// assertTargets is planAndAssert for a statement that hits rows. first is the plan on plain reads;
// planOn makes one on the rows that the statement hits, and on known rows above them.
func assertTargets[P targeting](e *Engine, w *writing, stmt *gorm.Statement, first func() (P, error), planOn func(plan.Hits, map[any]*table.Node, string) (P, error)) (P, error) {
	db, t := w.DB, w.St.Table
	return planAndAssert(e, db, w.Tx, &w.St.held, steps[P]{
		// A caller who asks for nothing but the assertion gets it.
		Always: w.Writer == nil,
		Plan: func(locking bool) (none P, err error) {
			if !locking {
				return first()
			}
			hit, err := e.targetsOf(db, t, stmt, nil, e.Dialect.Update)
			if err != nil {
				return none, err
			}
			return planOn(hit, nil, e.Dialect.Share)
		},
		Assert: func(planned P) (none P, err error) {
			locked, hit, err := e.lockPlanned(db, t, stmt, planned.On())
			if err != nil {
				return none, err
			}
			actual, err := planOn(hit, locked, e.Dialect.Share)
			if err != nil {
				return none, err
			}
			return actual, planned.On().Differs(actual.On(), locked)
		},
	})
}

// isOutdated reports whether an error can come from rows that were read from an old snapshot.
func isOutdated(err error) bool {
	return errors.Is(err, pathlock.ErrNotFound) || errors.Is(err, pathlock.ErrPathChanged) || errors.Is(err, fault.ErrWouldCycle)
}

// hasMoved reports whether an error says that something is not where it was planned to be.
func hasMoved(err error) bool { return errors.Is(err, pathlock.ErrPathChanged) }
