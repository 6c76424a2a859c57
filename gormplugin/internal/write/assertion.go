package write

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
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
func planAndAssert[P plan.Demand](e *Engine, db *gorm.DB, tx *txn.Transaction, h *pathLocks, r steps[P]) (P, error) {
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
func assertTargets[P targeting](e *Engine, w *writeRun, stmt *gorm.Statement, first func() (P, error), planOn func(plan.Hits, map[any]*table.Node, string) (P, error)) (P, error) {
	db, t := w.DB, w.St.Table
	return planAndAssert(e, db, w.Tx, &w.St.pathLocks, steps[P]{
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

// lockChains row-locks the nodes and everything above them for sharing, and checks that each is
// where it was planned to be: see [plan.Chains.Check]. It returns the locked rows, by id. known are
// rows that were read before, which suggest what to lock at once.
//
// To lock only the parent would not be enough: a rename further up may not have reached the
// parent's row yet, and its UPDATE may not see rows that are newer than its snapshot.
func (e *Engine) lockChains(db *gorm.DB, t *table.Table, planned []*table.Node, known map[any]*table.Node) (map[any]*table.Node, error) {
	return e.lockRest(db, t, t.Chains(planned, known, nil))
}

// lockRest locks the rows of c that are not locked yet, and checks the chains. One read is enough
// unless the known rows are out of date; then it finds the way up under locks.
func (e *Engine) lockRest(db *gorm.DB, t *table.Table, c *plan.Chains) (map[any]*table.Node, error) {
	for ids := c.Next(); len(ids) > 0; ids = c.Next() {
		found, err := t.ByID(db, ids, e.Dialect.Share)
		if err != nil {
			return nil, err
		}
		c.Found(maps.Values(found))
	}
	return c.Locked, c.Check()
}

// lockPlanned row-locks what a planned change of rows of t relies on. It locks what is above the
// rows for sharing, as lockChains does and with the same checks, and for the change the rows that
// the statement hits among those of the plan.
func (e *Engine) lockPlanned(db *gorm.DB, t *table.Table, stmt *gorm.Statement, on *plan.Basis) (locked map[any]*table.Node, hit plan.Hits, err error) {
	ids := on.IDs()
	if t.IsLeaf || len(ids) > table.MaxPlaceholders || len(ids) == 0 {
		if locked, err = e.lockChains(db, t.Above, on.Chains, on.Parents); err != nil {
			return nil, hit, err
		}
		hit, err = e.targetsOf(db, t, stmt, ids, e.Dialect.Update)
		return locked, hit, err
	}
	hit = plan.NewHits()
	c := t.Chains(on.Chains, on.Parents, ids)
	both := t.Direct(db)
	var end string
	if above := c.Next(); len(above) > 0 {
		both.Add(e.Dialect.Both[0])
		table.Selection{Keys: above, Lock: e.Dialect.Share}.AppendTo(both)
		both.Add(e.Dialect.Both[1])
		end = e.Dialect.Both[2]
	}
	hits(t, stmt, ids, e.Dialect.Update).AppendTo(both)
	both.Add(end)
	rows, err := t.Collect(both, e.Dialect.Update != "", false)
	if err != nil {
		return nil, hit, err
	}
	for _, n := range rows {
		if slices.Contains(ids, n.ID) {
			hit.Add([]*table.Node{n})
		}
	}
	c.Found(slices.Values(slices.DeleteFunc(rows, func(n *table.Node) bool { return n.Dead })))
	locked, err = e.lockRest(db, t, c)
	return locked, hit, err
}

// becomeWriter keeps others from writing between the reads of the assertion and the end of the
// transaction, in databases that have no row locks. It does so by a write that touches no row. In a
// transaction that was begun IMMEDIATE that changes nothing; in one that has read an older state it
// fails as busy.
func (e *Engine) becomeWriter(db *gorm.DB, tx *txn.Transaction, t *table.Table) error {
	if !e.Dialect.SoleWriter || !e.Asserts || tx.IsWriter.Load() {
		return nil
	}
	key := clause.Column{Name: t.Key.DBName}
	err := t.UpdateDirect(db, t.Key, key, clause.Expr{SQL: "1 = 0"})
	switch {
	case err == nil:
		tx.IsWriter.Store(true)
		return nil
	case e.Dialect.Classify(err).IsOfAnother():
		return fmt.Errorf("gormplugin: becoming the database's writer (begin transactions IMMEDIATE: _txlock=immediate): %w", err)
	default:
		// The table or the column is missing, or nothing can be written at all.
		return fmt.Errorf("gormplugin: writing to the table %s (AutoMigrate makes what is missing): %w", t.TableName, err)
	}
}
