package write

import (
	"errors"
	"maps"
	"reflect"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// updating is an UPDATE.
type updating struct {
	*Engine
	// asked is what the update said in the survey, plan is what the survey found, and removal that
	// of an update that deletes rows; nil if there was none.
	asked   *assignment
	plan    *relocation
	removal *plan.Removal
}

// Survey takes the locks that the update will need, as far as they are known before its transaction
// and its hooks.
func (k *updating) Survey(db *gorm.DB, st *Statement) (bool, error) {
	t := st.Table
	a, stmt, err := rehearse(t, db)
	if err == nil {
		err = checkForeign(t, stmt, a)
	}
	if err != nil || !a.touches() || !HasCondition(stmt) && !db.AllowGlobalUpdate {
		return false, err
	}
	a.describe(&st.pathLocks, t)
	if a.deletes() {
		if k.removal, err = k.surveyRemoval(db, t, stmt); err != nil {
			return false, err
		}
		return true, k.acquireEarly(db, &st.pathLocks, k.removal.Claims)
	}
	found, err := k.surveyRelocation(db, t, a, stmt)
	if err != nil {
		if errors.Is(err, pathlock.ErrNotFound) || hasMoved(err) {
			// An association that is saved before may bring the parent. The condition of an
			// optimistic lock, which comes later, may leave out the row that has moved.
			return true, nil
		}
		return false, err
	}
	k.asked, k.plan = a, found
	if found.staysPut() {
		return false, nil
	}
	return true, k.acquireEarly(db, &st.pathLocks, found.Claims)
}

// surveyRelocation works out by plain reads what an assignment does to the rows that stmt hits.
func (e *Engine) surveyRelocation(db *gorm.DB, t *table.Table, a *assignment, stmt *gorm.Statement) (*relocation, error) {
	parents := slices.Collect(maps.Values(a.Parents))
	if a.Parent != nil {
		parents = append(parents, *a.Parent)
	}
	hit, known, err := e.survey(db, t, stmt, parents...)
	if err != nil {
		return nil, err
	}
	x, err := e.relocationBy(db, t, a, hit, known, "")
	if hit.Recalled && (err != nil || x.staysPut()) {
		// Nothing will be asserted, and the rows may be elsewhere by now.
		return e.surveyRelocation(db, t, a, stmt)
	}
	return x, err
}

// Write carries out the UPDATE: it locks, asserts, has GORM write the rows with their new paths,
// and rewrites the paths below them.
func (k *updating) Write(w *writeRun) error {
	t, db, stmt := w.St.Table, w.DB, w.DB.Statement
	if stmt.Schema != nil {
		if err := w.Apply(stmt.Schema.UpdateClauses); err != nil {
			return err
		}
	}
	a, err := assignmentIn(t, stmt, operationOf(db))
	if err == nil {
		err = checkForeign(t, stmt, a)
	}
	if err == nil && a.Parent != nil && *a.Parent == nil {
		err = t.ClearParents(stmt.Context, stmt.ReflectValue)
	}
	if err != nil {
		return err
	}
	if len(a.set) > 0 {
		// GORM's own callback removes its clause, too.
		defer delete(stmt.Clauses, "SET")
		stmt.AddClause(a.set)
	}
	if !a.touches() || !HasCondition(stmt) && !db.AllowGlobalUpdate {
		if _, limited := stmt.Clauses["LIMIT"]; limited && !w.builds("LIMIT") {
			return t.Unsupported("GORM leaves the LIMIT out of an UPDATE on this database: state the rows by a subquery, as in Where(\"id IN (?)\", …)")
		}
		w.write()
		return nil
	}
	defer w.unpinned()()
	a.describe(&w.St.pathLocks, t)
	if a.deletes() {
		return k.mark(w, a)
	}
	if w.Tx != nil {
		if err := w.ensureTransaction(); err != nil {
			return err
		}
	}
	planned, err := k.plannedRelocation(w, a)
	if err == nil && planned.staysPut() && a.Parents == nil {
		return k.updateInPlace(w, a, planned)
	}
	if err != nil && (!k.Asserts || !isOutdated(err)) {
		return err
	}
	if begun := w.ensureTransaction(); begun != nil {
		return begun
	}
	first := func() (*relocation, error) { return planned, err }
	found, err := assertTargets(k.Engine, w, stmt, first, func(hit plan.Hits, known map[any]*table.Node, lock string) (*relocation, error) {
		return k.relocationBy(db, t, a, hit, known, lock)
	})
	if err != nil {
		return err
	}
	if found.staysPut() && a.Parents == nil {
		return k.updateInPlace(w, a, found) // The plain read was older than the rows.
	}
	return k.updateMoved(w, a, found)
}

// plannedRelocation returns what the update does according to plain reads. The survey's plan is as
// good as a new read, unless an association has been saved since that may have moved the row.
func (k *updating) plannedRelocation(w *writeRun, a *assignment) (*relocation, error) {
	if k.plan != nil && k.asked.SameAs(&a.Change) && (!k.plan.staysPut() || !savesAbove(w.St.Table, w.DB.Statement)) {
		return k.plan, nil
	}
	return k.surveyRelocation(w.DB, w.St.Table, a, w.DB.Statement)
}

// savesAbove reports whether a row of the table above is saved along with the one of the statement.
func savesAbove(t *table.Table, stmt *gorm.Statement) bool {
	return stmt.ReflectValue.Kind() == reflect.Struct && slices.ContainsFunc(t.Schema.Relationships.BelongsTo, func(r *schema.Relationship) bool {
		_, zero := r.Field.ValueOf(stmt.Context, stmt.ReflectValue)
		return !zero && r.FieldSchema.Table == t.Above.TableName
	})
}

// staysPut reports whether the tree is the same after the update as before, and no row of it is
// deleted or restored.
func (x *relocation) staysPut() bool {
	return len(x.Moves) == 0 && len(x.Dead) == 0
}

// updateInPlace writes the other columns of rows that stay where they are. It does not write the
// columns of their place, and needs no lock: somebody may move the rows meanwhile, with the same
// result as afterwards.
func (k *updating) updateInPlace(w *writeRun, a *assignment, x *relocation) error {
	t, stmt := w.St.Table, w.DB.Statement
	for _, f := range t.PlaceColumns() {
		a.drop(f)
	}
	// Where a row above has moved, the version has grown, too.
	if t.Version != nil && (x.hasVersion(a.version) || x.hasOutdatedPath(t)) {
		a.drop(t.Version)
	}
	a.orNothing(t)
	stmt.AddClause(a.set)
	where, _ := stmt.Clauses["WHERE"].Expression.(clause.Where)
	conditions := slices.Clone(where.Exprs)
	if a.Restores {
		conditions = append(conditions, t.Alive) // nobody has locked the place of a row that is deleted meanwhile
	}
	_, err := w.writeParts(x.IDs(), func(ids []any) int {
		pin(t, stmt, ids, conditions...)
		return 0
	})
	if err != nil {
		return err
	}
	hit := stmt.DB.RowsAffected > 0
	if !hit && len(x.Live) > 0 && (x.hasOutdatedPath(t) || savesOne(stmt)) {
		// MySQL does not count a row that has the values already. Save would take it for stale.
		if hit, err = k.stillHits(w.DB, t, stmt, x); err != nil {
			return err
		}
	}
	if hit && (a.Path+a.IDs != "" || a.StatesPath) {
		err = writeBack(t, stmt, x, true)
	} else if !hit {
		err = k.refuseMissed(w)
	}
	if err != nil {
		return err
	}
	return reportPlace(stmt.Context, t, operationOf(w.DB), x)
}

// stillHits reports whether the conditions of an update that changed nothing, those of an
// optimistic lock included, hit rows. It notes where the rows are. It reads under row locks: a
// snapshot may be older than what the update has seen.
func (k *updating) stillHits(db *gorm.DB, t *table.Table, stmt *gorm.Statement, x *relocation) (bool, error) {
	rows, err := t.Read(db, hits(t, stmt, x.IDs(), k.Dialect.Update))
	for _, n := range rows {
		if x.Live[n.ID] != nil {
			x.Live[n.ID] = n
		}
	}
	return len(rows) > 0, err
}

// refuseMissed refuses the Save of a row that its UPDATE has missed. The upsert with which GORM
// goes on would be refused, too, but in a transaction of its own. A refusal here also rolls back
// the associations that were saved with the row.
func (k *updating) refuseMissed(w *writeRun) error {
	stmt := w.DB.Statement
	if !savesOne(stmt) {
		return nil
	}
	rows, err := arrivals(w.DB, w.St.Table)
	if err != nil {
		return nil //nolint:nilerr // A new row may be meant, of which the upsert will say what is wrong.
	}
	skip := stmt.SkipHooks
	defer func() { stmt.SkipHooks = skip }()
	stmt.SkipHooks = true
	stmt.AddClause(clause.OnConflict{UpdateAll: true}) // until the statement is unpinned
	_, _, err = k.settleUpsert(w.DB, w.St.Table, rows, k.Dialect.Update)
	return err
}

// updateMoved writes rows, some of which move, and the paths of all that is below these.
func (k *updating) updateMoved(w *writeRun, a *assignment, x *relocation) (err error) {
	t, db := w.St.Table, w.DB
	a.Change = x.assignment.Change // with the parent that a path says
	tops, descend, err := k.checkMoves(db, t, x)
	if err != nil {
		return err
	}
	onward := x.Moves
	if x.Crosses(&a.Change) {
		// From here on, a failure leaves rows where none can be.
		defer func() {
			if err == nil {
				return
			}
			if taken, _ := k.takesName(db, w.St); taken {
				err = w.St.nameTaken(err)
			}
			w.Tx.Abandon(err)
		}()
		if onward, err = k.setAside(db, w.Tx, t, x.Moves, descend); err != nil {
			return err
		}
	}
	written, err := k.writeMoved(w, a, x)
	if err != nil {
		return err
	}
	if written == 0 && (len(x.Moves) > 0 || len(x.IDs()) == 0) {
		return k.refuseMissed(w)
	}
	if err := k.recheckTop(db, w.Tx, t, tops); err != nil {
		return err
	}
	if descend {
		if err := k.rewriteMoved(db, w.Tx, t, onward); err != nil {
			return err
		}
	}
	if err := k.rewriteLeaves(db, w.Tx, t, x.Moves); err != nil {
		return err
	}
	if err := writeBack(t, db.Statement, x, false); err != nil {
		return err
	}
	return reportPlace(db.Statement.Context, t, operationOf(db), x)
}

// checkMoves looks at the new places of the rows, and below the rows. It refuses what could not be
// written, and reports whether there are rows below.
func (k *updating) checkMoves(db *gorm.DB, t *table.Table, x *relocation) (tops []*plan.TopArrival, descend bool, err error) {
	if x.assignment.Parents != nil {
		if err := k.checkSlots(db, t, x); err != nil {
			return nil, false, err
		}
	}
	if tops, err = k.guardTop(db, t, x.TopArrivals); err != nil {
		return nil, false, err
	}
	if descend, err = k.checkSubtrees(db, t, x.Moves); err != nil {
		return nil, false, err
	}
	return tops, descend, nil
}

// writeMoved writes the rows that the update hits, in parts.
func (k *updating) writeMoved(w *writeRun, a *assignment, x *relocation) (written int64, err error) {
	t, db := w.St.Table, w.DB
	moves := make(map[any]plan.Move, len(x.Moves))
	for _, m := range x.Moves {
		moves[m.ID] = m
		w.St.Slots = append(w.St.Slots, nameSlot{m.To, m.Tree, a.ParentOf(m.Node), a.NameOf(m.Node)})
	}
	assigned := a.set
	return w.writeParts(x.IDs(), func(ids []any) int {
		var moved []plan.Move
		for _, id := range ids {
			if m, ok := moves[id]; ok {
				moved = append(moved, m)
			}
		}
		a.set = assigned
		if a.arranged != nil {
			a.arranged.assign(db.Statement.Context, t, a, x, ids)
		}
		complete(t, a, moved, len(ids), w.St.Fence)
		a.orNothing(t)
		db.Statement.AddClause(a.set)
		pin(t, db.Statement, ids)
		return len(moved)
	})
}
