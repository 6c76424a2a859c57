package gormplugin

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/hold"
	"github.com/pathlock-go/pathlock/gormplugin/internal/statement"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// removal is what a DELETE does to the tree.
type removal struct {
	hit targets
	// tops are the live rows that it hits and that do not lie below others of them.
	tops []top
	// chains are the nodes above the tops, and above is what was read of the rows above.
	chains []*table.Node
	above  map[any]*table.Node
	claims hold.Claims
}

// top is a row that goes, and its subtree with it.
type top struct {
	*table.Node
	at pathlock.Location
}

// deleting is a DELETE.
type deleting struct {
	*planner
	// removal is what the survey found; nil if there was none.
	removal *removal
}

// Survey takes the locks on the subtrees that a DELETE will remove.
func (p *deleting) Survey(db *gorm.DB, st *statement.Statement) (bool, error) {
	st.Note = "delete from " + st.Table.TableName
	stmt := rehearsal(st.Table, db)
	stmt.ReflectValue = db.Statement.ReflectValue
	addKeys(st.Table, stmt)
	if !hasCondition(stmt) && !db.AllowGlobalUpdate {
		return false, nil
	}
	planned, err := p.surveyRemoval(db, st.Table, stmt)
	if err != nil {
		return false, err
	}
	p.removal = planned
	return true, p.AcquireEarly(db, &st.Held, planned.claims)
}

// surveyRemoval works out by plain reads what a DELETE does.
func (p *planner) surveyRemoval(db *gorm.DB, t *table.Table, stmt *gorm.Statement) (*removal, error) {
	hit, known, err := p.survey(db, t, stmt)
	if err != nil {
		return nil, err
	}
	return p.removalOf(db, t, hit, known, "")
}

// Write carries out the DELETE: it locks, asserts, takes the subtrees along, and has the rows
// themselves deleted.
func (p *deleting) Write(w *statement.Writing) error {
	t, db, st := w.St.Table, w.Db, w.St
	st.Note = "delete from " + t.TableName
	if err := w.Apply(t.ClausesOfDelete); err != nil {
		return err
	}
	stmt := db.Session(&gorm.Session{Initialized: true}).Statement
	addKeys(t, stmt)
	if !hasCondition(stmt) && !db.AllowGlobalUpdate {
		w.Write(db)
		return nil
	}
	if err := w.Begin(); err != nil {
		return err
	}
	gone, err := p.settle(db, w.Tx, st, stmt)
	if err != nil {
		return err
	}
	below, err := p.removeBelow(db, t, gone.tops)
	if err != nil {
		w.Tx.Abandon(err)
		return err
	}
	ids := make([]any, 0, len(gone.tops)+len(gone.hit.dead))
	for _, n := range gone.tops {
		ids = append(ids, n.ID)
	}
	ids = slices.AppendSeq(ids, maps.Keys(gone.hit.dead))
	written, err := w.WriteParts(ids, func(ids []any) int {
		pin(t, db.Statement, ids)
		return len(ids)
	})
	switch {
	case below == 0:
		return err
	case err != nil:
		// The rows below are gone already: this is not left to a caller who may ignore the error.
		w.Tx.Abandon(err)
		return err
	case written == 0:
		return w.Missed(int64(len(ids)), 0)
	}
	db.RowsAffected += int64(len(gone.hit.live) - len(gone.tops))
	statement.ErrandOf(db).WentAlong(below)
	return nil
}

// Explain has nothing to add.
func (p *deleting) Explain(*gorm.DB, *statement.Statement) {}

// End has nothing to undo.
func (p *deleting) End(*gorm.DB) {}

// settle works out which rows go and locks them.
func (p *deleting) settle(db *gorm.DB, tx *txn.Transaction, st *statement.Statement, stmt *gorm.Statement) (*removal, error) {
	t := st.Table
	return hold.Settle(p.Keeper, db, tx, &st.Held, hold.Rounds[*removal]{
		Plan: func(locking bool) (*removal, error) {
			switch {
			case locking:
				return p.lockedRemoval(db, t, stmt)
			case p.removal == nil:
				return p.surveyRemoval(db, t, stmt)
			default:
				return p.removal, nil
			}
		},
		Needs:  func(x *removal) hold.Demand { return x.claims },
		Assert: func(x *removal) (*removal, error) { return p.assertRemoval(db, t, stmt, x) },
		Stale:  hold.IsOutdated,
		Moved:  hold.HasMoved,
	})
}

// lockedRemoval works out by locking reads what a DELETE does.
func (p *planner) lockedRemoval(db *gorm.DB, t *table.Table, stmt *gorm.Statement) (*removal, error) {
	hit, err := p.targetsOf(db, t, stmt, nil, p.Dialect.Update)
	if err != nil {
		return nil, err
	}
	return p.removalOf(db, t, hit, nil, p.Dialect.Share)
}

// assertRemoval row-locks what a planned removal relies on and works it out again.
func (p *planner) assertRemoval(db *gorm.DB, t *table.Table, stmt *gorm.Statement, planned *removal) (*removal, error) {
	locked, hit, err := p.lockPlanned(db, t, stmt, planned.chains, planned.above, planned.hit.ids())
	if err != nil {
		return nil, err
	}
	hit.remember(planned.hit)
	actual, err := p.removalOf(db, t, hit, locked, p.Dialect.Share)
	if err != nil {
		return nil, err
	}
	at := make(map[any]pathlock.Location, len(planned.tops))
	for _, n := range planned.tops {
		at[n.ID] = n.at
	}
	for _, n := range actual.tops {
		if at[n.ID] != n.at {
			return nil, &fault.PathChangedError{Table: t.TableName, ID: n.ID, Planned: at[n.ID].Path.Column(), Actual: n.Node.Path}
		}
	}
	for _, n := range actual.chains {
		if locked[n.ID] == nil {
			return nil, &fault.PathChangedError{Table: t.Above.TableName, ID: n.ID, Actual: n.Path}
		}
	}
	return actual, nil
}

// removalOf works out what the deletion of rows does. known are rows that need not be read again.
func (p *planner) removalOf(db *gorm.DB, t *table.Table, hit targets, known map[any]*table.Node, share dialect.RowLock) (*removal, error) {
	if err := statement.ErrandOf(db).Missed(t, len(hit.live)); err != nil {
		return nil, err
	}
	x := &removal{hit: hit, claims: make(hold.Claims)}
	missing := make(map[any]bool)
	for _, n := range hit.live {
		if n.Parent != nil && known[n.Parent] == nil && (t.IsLeaf() || hit.live[n.Parent] == nil) {
			missing[n.Parent] = true
		}
	}
	above, err := t.Above.Rows(db, slices.Collect(maps.Keys(missing)), share)
	if err != nil {
		return nil, err
	}
	maps.Copy(above, known)
	x.above = above
	places := make(map[pathlock.Tree][]top)
	for _, n := range hit.live {
		if t.IsLeaf() {
			parent := above[n.Parent]
			if parent == nil {
				// A leaf whose parent is deleted has no place that anybody could take or lock.
				x.tops = append(x.tops, top{Node: n})
				continue
			}
			n.Tree = parent.Tree
			t.Follow(n, parent)
		}
		tree, err := t.Above.TreeOf(n.Tree)
		if err != nil {
			return nil, err
		}
		path, err := pathlock.ParsePath(n.Path)
		if err != nil {
			return nil, err
		}
		places[tree] = append(places[tree], top{n, pathlock.Location{Tree: tree, Path: path}})
	}
	for _, tops := range places {
		x.keepTopmost(t, tops, above)
	}
	return x, nil
}

// keepTopmost enters the rows of one tree that do not lie below others.
func (x *removal) keepTopmost(t *table.Table, tops []top, above map[any]*table.Node) {
	slices.SortFunc(tops, func(a, b top) int { return a.at.Path.Compare(b.at.Path) })
	var last *top
	for _, n := range tops {
		if last != nil && last.at.Path.Contains(n.at.Path) && !t.IsLeaf() && last.at.Path != n.at.Path {
			continue
		}
		last = &n
		x.tops = append(x.tops, n)
		x.claims.Add(n.at.Tree, n.at.Path)
		if parent := above[n.Parent]; parent != nil {
			x.chains = append(x.chains, parent)
		}
	}
}

// removeBelow deletes the descendants of rows that are being deleted, in the same way: softly where
// the rows are, and for good where the statement is Unscoped. It returns how many these were.
// Descendants that were deleted before are not part of the tree, and stay as they are.
func (p *planner) removeBelow(db *gorm.DB, t *table.Table, tops []top) (rows int64, err error) {
	if t.IsLeaf() || len(tops) == 0 {
		return 0, nil
	}
	childless := true
	above := make([]*table.Node, len(tops))
	for i, n := range tops {
		above[i] = n.Node
		childless = childless && n.Childless
	}
	if childless {
		if any, err := p.anyBelow(db, t, above); err != nil || !any {
			return 0, err
		}
	}
	for chunk := range slices.Chunk(tops, maxRanges) {
		ranges := make([]clause.Expression, len(chunk))
		for i, n := range chunk {
			ranges[i] = t.Below(n.Tree, n.Node.Path)
		}
		deleted, err := deleteBelow(t, db, table.AnyOf(ranges), db.Statement.Unscoped)
		if err != nil {
			return rows, fmt.Errorf("gormplugin: deleting the rows below: %w", err)
		}
		rows += deleted
	}
	return rows, nil
}
