package gormplugin

import (
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"gorm.io/gorm"
)

// surveyUpdate takes the locks that an update will need as far as can be told before its
// transaction and its hooks.
func (p *Plugin) surveyUpdate(db *gorm.DB, st *statement) (bool, error) {
	t := st.table
	stmt := t.rehearsal(db)
	a, err := t.assignmentIn(stmt)
	if err != nil || !a.touches() || !hasCondition(stmt) && !db.AllowGlobalUpdate {
		return false, err
	}
	st.note = fmt.Sprintf("%s in %s", a, t.name)
	hit, err := p.targetsOf(db, t, stmt, nil, "")
	if err != nil {
		return false, err
	}
	turn, err := p.turnOf(db, t, a, hit, nil, "")
	if err != nil {
		if errors.Is(err, pathlock.ErrNotFound) {
			// An association that is saved before may bring the parent.
			return true, nil
		}
		return false, err
	}
	st.plan = &plan{assignment: a, turn: turn}
	return true, p.acquireEarly(db, st, turn.claims)
}

// plan is what a survey has found out about an update.
type plan struct {
	assignment *assignment
	turn       *turn
}

// guardUpdate locks, asserts, and completes the statement with the new paths of the rows that it hits.
func (p *Plugin) guardUpdate(db *gorm.DB, tx *transaction, st *statement) error {
	t, stmt := st.table, db.Statement
	a, err := t.assignmentIn(stmt)
	if err != nil {
		return err
	}
	stmt.AddClause(a.set)
	st.assigned = true
	if !a.touches() || !hasCondition(stmt) && !db.AllowGlobalUpdate {
		return nil
	}
	st.note = fmt.Sprintf("%s in %s", a, t.name)
	if err := p.becomeWriter(db, tx, t.above); err != nil {
		return err
	}
	turn, err := p.settleUpdate(db, tx, st, a)
	if err != nil {
		return err
	}
	if err := p.guardTop(db, st, turn.landings); err != nil {
		return err
	}
	if err := p.checkSubtrees(db, t, turn.moves); err != nil {
		return err
	}
	st.moves = turn.moves
	for _, m := range turn.moves {
		st.slots = append(st.slots, m.to)
	}
	t.complete(a, turn, st.fence)
	stmt.AddClause(a.set)
	t.pin(stmt, turn.hit.ids())
	return t.reflect(stmt, turn)
}

// settleUpdate works out which rows go where and locks all of it. As settleCreate, it
// believes plain reads in its first round and locking ones in its last.
func (p *Plugin) settleUpdate(db *gorm.DB, tx *transaction, st *statement, a *assignment) (*turn, error) {
	const lastRound = 1
	for round := 0; ; round++ {
		wait := p.transactionWait
		if round == lastRound {
			wait = pathlock.NoWait
		}
		planned, err := p.planUpdate(db, st, a, round == lastRound)
		if err == nil {
			err = p.acquireWithin(db, tx, st, planned.claims, wait)
		} else if round < lastRound && p.assert && isOutdated(err) {
			continue
		}
		if err != nil || !p.assert {
			return planned, err
		}
		actual, err := p.assertTurn(db, a, planned)
		if err == nil || round == lastRound || !errors.Is(err, pathlock.ErrPathChanged) {
			return actual, err
		}
	}
}

// planUpdate reads what the update hits. The survey's plan is as good as a plain read of now.
func (p *Plugin) planUpdate(db *gorm.DB, st *statement, a *assignment, locking bool) (*turn, error) {
	if !locking && st.plan != nil && st.plan.assignment.sameAs(a) {
		return st.plan.turn, nil
	}
	var share, update rowLock
	if locking {
		share, update = p.dialect.share, p.dialect.update
	}
	hit, err := p.targetsOf(db, st.table, db.Statement, nil, update)
	if err != nil {
		return nil, err
	}
	return p.turnOf(db, st.table, a, hit, nil, share)
}

// isOutdated reports whether an error can come from rows that were read
// from an old snapshot.
func isOutdated(err error) bool {
	return errors.Is(err, pathlock.ErrNotFound) || errors.Is(err, pathlock.ErrPathChanged) || errors.Is(err, ErrWouldCycle)
}

// assertTurn row-locks everything that the planned turn relies on and works the turn out again: the two have
// to agree.
func (p *Plugin) assertTurn(db *gorm.DB, a *assignment, planned *turn) (*turn, error) {
	t := planned.table
	locked, err := p.lockChains(db, t.above, planned.chains, planned.above)
	if err != nil {
		return nil, err
	}
	hit, err := p.targetsOf(db, t, db.Statement, planned.hit.ids(), p.dialect.update)
	if err != nil {
		return nil, err
	}
	actual, err := p.turnOf(db, t, a, hit, locked, p.dialect.share)
	if err != nil {
		return nil, err
	}
	return actual, planned.differs(actual, locked)
}
