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

// planAndAssert plans a write, takes its path locks and asserts the plan, within the write's
// transaction. At first it believes plain reads. If these turn out to be out of date, which they
// always are in a transaction with an old snapshot, it starts again with locking reads. It then
// does not wait for path locks: others may need the rows that are locked by then.
//
// work works out what the write does, and so which path locks it needs. assert row-locks what the
// plan relies on, and compares it with the plan as it works out under these locks. It is skipped
// without [Engine.Asserts], unless the caller has asked for nothing else.
func (s *statement) planAndAssert(work func(locking bool) (plan.Demand, error), assert func() error) error {
	attempt := 1
	for wait, locking := s.TransactionWait, false; ; wait, locking, attempt = pathlock.NoWait, true, 2 {
		planned, err := work(locking)
		if err != nil {
			if !locking && s.Asserts && isOutdated(err) {
				continue
			}
			return err
		}
		if err := s.acquire(planned, wait); err != nil || !s.Asserts && s.nodes == nil {
			return err
		}
		err = txn.InStep(s.DB.Statement.Context, s.Locker, pathlock.Step{Kind: pathlock.StepAssert, Attempt: attempt}, func(ctx context.Context) error {
			outer := s.DB.Statement.Context
			s.DB.Statement.Context = ctx
			defer func() { s.DB.Statement.Context = outer }()
			return assert()
		})
		if err == nil || locking || !errors.Is(err, pathlock.ErrPathChanged) {
			return err
		}
	}
}

// assertEffect is planAndAssert for a change of the rows that stmt hits. planned, with its error,
// is the plan on plain reads.
func (s *statement) assertEffect(c *plan.Change, stmt *gorm.Statement, planned *plan.Effect, failed error) (found *plan.Effect, err error) {
	err = s.planAndAssert(func(locking bool) (plan.Demand, error) {
		if found, err = planned, failed; !locking {
			return found, err
		}
		hit, err := s.targetsOf(stmt, nil, s.Dialect.Update)
		if err == nil {
			found, err = s.effectOf(c, hit, nil, s.Dialect.Share)
		}
		return found, err
	}, func() error {
		locked, hit, err := s.lockPlanned(stmt, found)
		if err != nil {
			return err
		}
		if found.StaysPut() && found.IsOn(hit) {
			found.Hits = hit
			return nil
		}
		before := found
		if found, err = s.effectOf(c, hit, locked, s.Dialect.Share); err != nil {
			return err
		}
		return before.Differs(found, locked)
	})
	return found, err
}

// isOutdated reports whether an error can come from rows that were read from an old snapshot, or
// earlier in the request: the rows above decide where a row may go.
func isOutdated(err error) bool {
	return slices.ContainsFunc([]error{
		pathlock.ErrNotFound, pathlock.ErrPathChanged, fault.ErrWouldCycle, fault.ErrPathTooLong, fault.ErrMisplaced,
	}, func(outdated error) bool { return errors.Is(err, outdated) })
}

// lockChains row-locks the nodes, of the table above, and everything above them for sharing, and
// checks that each is where it was planned to be: see [plan.Chains.Check]. It returns the locked
// rows, by id. known are rows that were read before, which suggest what to lock at once.
//
// To lock only the parent would not be enough: a rename further up may not have reached the
// parent's row yet, and its UPDATE may not see rows that are newer than its snapshot.
func (s *statement) lockChains(planned []*table.Node, known map[any]*table.Node) (map[any]*table.Node, error) {
	return s.lockRest(s.Table.Above.Chains(planned, known, nil))
}

// lockRest locks the rows of c that are not locked yet, and checks the chains. One read is enough
// unless the known rows are out of date; then it finds the way up under locks.
func (s *statement) lockRest(c *plan.Chains) (map[any]*table.Node, error) {
	for ids := c.Next(); len(ids) > 0; ids = c.Next() {
		found, err := s.Table.Above.ByID(s.DB, ids, s.Dialect.Share)
		if err != nil {
			return nil, err
		}
		c.Found(maps.Values(found))
	}
	return c.Locked, c.Check()
}

// lockPlanned row-locks what a planned change of the statement's rows relies on. It first locks
// what is above the rows for sharing, as lockChains does and with the same checks. Then it locks
// for the change the rows that the statement hits, among those of the plan if it cannot hit others.
// In the opposite order, it would deadlock with a change of a row above.
func (s *statement) lockPlanned(stmt *gorm.Statement, on *plan.Effect) (locked map[any]*table.Node, hit plan.Hits, err error) {
	t := s.Table
	ids := on.IDs()
	s.childless = false // the attempt before may not have locked the row
	if misses := s.mayMiss(stmt, len(ids)); misses || t.IsLeaf || len(ids) > table.MaxPlaceholders || len(ids) == 0 || len(on.Anchors) == 0 {
		if locked, err = s.lockChains(on.Anchors, on.Parents); err != nil {
			return nil, hit, err
		}
		if misses {
			ids = nil
		}
		hit, err = s.targetsOf(stmt, ids, s.Dialect.Update)
		return locked, hit, err
	}
	hit = plan.NewHits()
	c := t.Chains(on.Anchors, on.Parents, ids)
	both := t.Direct(s.DB)
	var end string
	above := c.Next()
	if len(above) > 0 {
		both.Add(s.Dialect.UnionAll[0])
		table.Selection{Keys: above, Lock: s.Dialect.Share}.AppendTo(both)
		both.Add(s.Dialect.UnionAll[1])
		end = s.Dialect.UnionAll[2]
	}
	selectionOf(t, stmt, ids, s.Dialect.Update).AppendTo(both)
	// Where locking reads see the newest rows, the same statement can look below a row that moves.
	looks := end != "" && s.Dialect.Newest != "" && len(ids) == 1 && len(on.Moves) == 1 && on.Moves[0].Rewrites()
	if looks {
		both.Add(s.Dialect.UnionAll[1])
		s.childOf([]*table.Node{on.Moves[0].Node}).AppendTo(both)
	}
	both.Add(end)
	rows, err := t.Collect(both, s.Dialect.Update != "", false)
	if err != nil {
		return nil, hit, err
	}
	s.childless = looks
	live := rows[:0]
	for _, n := range rows {
		switch {
		case slices.Contains(ids, n.ID):
			hit.Add([]*table.Node{n})
		case !slices.Contains(above, n.ID):
			// It is below. Its parent's key may be spelled differently.
			s.childless = false
			continue
		}
		if !n.Dead {
			live = append(live, n)
		}
	}
	c.Found(slices.Values(live))
	locked, err = s.lockRest(c)
	return locked, hit, err
}

// becomeWriter keeps others from writing between the reads of the assertion and the end of the
// transaction, in databases that have no row locks. It does so by a write that touches no row. In a
// transaction that was begun IMMEDIATE that changes nothing; in one that has read an older state it
// fails as busy.
func (s *statement) becomeWriter() error {
	t := s.Table.Above
	if !s.Dialect.SoleWriter || !s.Asserts || s.tx.IsWriter.Load() {
		return nil
	}
	key := clause.Column{Name: t.Key.DBName}
	_, err := t.UpdateDirect(s.DB, t.Key, key, clause.Expr{SQL: "1 = 0"})
	switch {
	case err == nil:
		s.tx.IsWriter.Store(true)
		return nil
	case s.Dialect.Classify(err).IsOfAnother():
		return fmt.Errorf("gormplugin: becoming the database's writer (begin transactions IMMEDIATE: _txlock=immediate): %w", err)
	default:
		// The table or the column is missing, or nothing can be written at all.
		return fmt.Errorf("gormplugin: writing to the table %s (AutoMigrate makes what is missing): %w", t.TableName, err)
	}
}
