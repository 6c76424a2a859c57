package gormplugin

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pathlock-go/pathlock"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// removal is what a DELETE does to the tree.
type removal struct {
	hit targets
	// tops are the live rows that it hits and that do not lie below others of them.
	tops []top
	// chains are the nodes above the tops, and above is what was read of the rows above.
	chains []*node
	above  map[any]*node
	claims claims
}

// top is a row that goes, and its subtree with it.
type top struct {
	*node
	at site
}

// surveyDelete takes the locks on the subtrees that a DELETE will remove.
func (p *Plugin) surveyDelete(db *gorm.DB, st *statement) (bool, error) {
	st.note = "delete from " + st.table.name
	stmt := st.table.rehearsal(db)
	stmt.ReflectValue = db.Statement.ReflectValue
	st.table.addKeys(stmt)
	if !hasCondition(stmt) && !db.AllowGlobalUpdate {
		return false, nil
	}
	planned, err := p.removalOf(db, st.table, stmt, nil, nil, "", "")
	if err != nil {
		return false, err
	}
	st.removal = planned
	return true, p.acquireEarly(db, st, planned.claims)
}

// guardDelete locks, asserts, and takes the subtrees along.
func (p *Plugin) guardDelete(db *gorm.DB, tx *transaction, st *statement) error {
	t := st.table
	st.note = "delete from " + t.name
	stmt := db.Session(&gorm.Session{Initialized: true}).Statement
	t.addKeys(stmt)
	if !hasCondition(stmt) && !db.AllowGlobalUpdate {
		return nil
	}
	if err := p.becomeWriter(db, tx, t.above); err != nil {
		return err
	}
	gone, err := p.settleDelete(db, tx, st, stmt)
	if err != nil {
		return err
	}
	if !t.isLeaf() {
		if err := p.removeBelow(db, st, gone.tops); err != nil {
			tx.abandon(err)
			return err
		}
	}
	ids := make([]any, 0, len(gone.tops))
	for _, n := range gone.tops {
		ids = append(ids, n.id)
	}
	st.alsoAffected = int64(len(gone.hit.live) - len(gone.tops))
	for id := range gone.hit.dead {
		ids = append(ids, id)
	}
	t.pin(db.Statement, ids)
	return nil
}

// settleDelete works out which rows go and locks them, as settleUpdate does.
func (p *Plugin) settleDelete(db *gorm.DB, tx *transaction, st *statement, stmt *gorm.Statement) (*removal, error) {
	t := st.table
	const lastRound = 1
	for round := 0; ; round++ {
		share, update, wait := rowLock(""), rowLock(""), p.transactionWait
		if round == lastRound {
			share, update, wait = p.dialect.share, p.dialect.update, pathlock.NoWait
		}
		planned, err := st.removal, error(nil)
		if planned == nil || round == lastRound {
			planned, err = p.removalOf(db, t, stmt, nil, nil, share, update)
		}
		if err == nil {
			err = p.acquireWithin(db, tx, st, planned.claims, wait)
		} else if round < lastRound && p.assert && isOutdated(err) {
			continue
		}
		if err != nil || !p.assert {
			return planned, err
		}
		actual, err := p.assertRemoval(db, t, stmt, planned)
		if err == nil || round == lastRound || !errors.Is(err, pathlock.ErrPathChanged) {
			return actual, err
		}
	}
}

// assertRemoval row-locks what a planned removal relies on and works it out again.
func (p *Plugin) assertRemoval(db *gorm.DB, t *table, stmt *gorm.Statement, planned *removal) (*removal, error) {
	locked, err := p.lockChains(db, t.above, planned.chains, planned.above)
	if err != nil {
		return nil, err
	}
	actual, err := p.removalOf(db, t, stmt, planned.hit.ids(), locked, p.dialect.share, p.dialect.update)
	if err != nil {
		return nil, err
	}
	at := make(map[any]site, len(planned.tops))
	for _, n := range planned.tops {
		at[n.id] = n.at
	}
	for _, n := range actual.tops {
		if at[n.id] != n.at {
			return nil, &PathChangedError{Table: t.name, ID: n.id, Planned: at[n.id].path.Column(), Actual: n.node.path}
		}
	}
	for _, n := range actual.chains {
		if locked[n.id] == nil {
			return nil, &PathChangedError{Table: t.above.name, ID: n.id, Actual: n.path}
		}
	}
	return actual, nil
}

// removalOf reads the rows that a DELETE hits, among those with the given ids unless ids is nil, and the rows above them.
func (p *Plugin) removalOf(db *gorm.DB, t *table, stmt *gorm.Statement, ids []any, known map[any]*node, share, update rowLock) (*removal, error) {
	hit, err := p.targetsOf(db, t, stmt, ids, update)
	if err != nil {
		return nil, err
	}
	if err := errandOf(db).missed(t, hit); err != nil {
		return nil, err
	}
	x := &removal{hit: hit, claims: make(claims)}
	missing := make(map[any]bool)
	for _, n := range hit.live {
		if n.parent != nil && known[n.parent] == nil && (t.isLeaf() || hit.live[n.parent] == nil) {
			missing[n.parent] = true
		}
	}
	above, err := t.above.rows(db, slices.Collect(maps.Keys(missing)), share)
	if err != nil {
		return nil, err
	}
	maps.Copy(above, known)
	x.above = above
	places := make(map[pathlock.Tree][]top)
	for _, n := range hit.live {
		if t.isLeaf() {
			parent := above[n.parent]
			if parent == nil {
				return nil, fmt.Errorf("%w: %s %v, the parent of %s %v", pathlock.ErrNotFound, t.above.name, n.parent, t.name, n.id)
			}
			n.tree = parent.tree
			t.follow(n, parent)
		}
		tree, err := t.above.treeOf(n.tree)
		if err != nil {
			return nil, err
		}
		path, err := pathlock.ParsePath(n.path)
		if err != nil {
			return nil, err
		}
		places[tree] = append(places[tree], top{n, site{tree, path}})
	}
	for _, tops := range places {
		x.keepTopmost(t, tops, above)
	}
	return x, nil
}

// keepTopmost enters the rows of one tree that do not lie below others.
func (x *removal) keepTopmost(t *table, tops []top, above map[any]*node) {
	slices.SortFunc(tops, func(a, b top) int { return a.at.path.Compare(b.at.path) })
	var last *top
	for _, n := range tops {
		if last != nil && last.at.path.Contains(n.at.path) && !t.isLeaf() && last.at.path != n.at.path {
			continue
		}
		last = &n
		x.tops = append(x.tops, n)
		x.claims.add(n.at.tree, n.at.path)
		if parent := above[n.parent]; parent != nil {
			x.chains = append(x.chains, parent)
		}
	}
}

// removeBelow deletes the descendants of rows that are being deleted, in the same
// way: softly where the rows are, and for good where the statement is Unscoped.
// Descendants that were deleted before are not part of the tree, and stay as they are.
func (p *Plugin) removeBelow(db *gorm.DB, st *statement, tops []top) error {
	t := st.table
	// Each range takes five of the values that a statement can list.
	for chunk := range slices.Chunk(tops, maxPlaceholders/5) {
		ranges := make([]clause.Expression, len(chunk))
		for i, n := range chunk {
			ranges[i] = p.below(t, n.tree, n.node.path)
		}
		var order clause.Expression
		if p.dialect.childrenFirst {
			order = clause.Expr{SQL: "? DESC", Vars: []any{clause.Column{Name: t.path.DBName}}}
		}
		rows, err := t.deleteDirect(db, clause.Or(ranges...), db.Statement.Unscoped, order)
		if err != nil {
			return fmt.Errorf("gormplugin: deleting the rows below: %w", err)
		}
		st.removedBelow = st.removedBelow || rows > 0
		errandOf(db).wentAlong(rows)
	}
	return nil
}

// keepWhole follows the DELETE itself. Where that has failed after the rows below were deleted, the transaction is rolled
// back, and not left to a caller who may ignore the error.
func (p *Plugin) keepWhole(db *gorm.DB) {
	st := stateOf(db)
	if st == nil || db.Error == nil || !st.removedBelow {
		return
	}
	if h, ok := unwrapped(db.Statement.ConnPool).(*handle); ok {
		h.abandon(db.Error)
	}
}
