package write

import (
	"errors"
	"reflect"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// updating is an UPDATE.
type updating struct {
	*statement
	// surveyed is what the update said in the survey, and plan is what the survey found; nil if
	// there was none.
	surveyed *assignment
	plan     *plan.Effect
}

// Survey takes the locks that the update will need, as far as they are known before its transaction
// and its hooks.
func (k *updating) Survey() (bool, error) {
	a, stmt, err := k.rehearse()
	if err != nil || !a.touches() || !hasCondition(stmt) && !k.DB.AllowGlobalUpdate {
		return false, err
	}
	k.describe(a)
	found, err := k.surveyEffect(&a.Change, stmt)
	if err != nil {
		if !a.Deletes && (errors.Is(err, pathlock.ErrNotFound) || errors.Is(err, pathlock.ErrPathChanged)) {
			// An association that is saved before may supply the parent. The condition of an
			// optimistic lock, which comes later, may leave out the row that has moved.
			return true, nil
		}
		return false, err
	}
	k.surveyed, k.plan = a, found
	if found.StaysPut() {
		return k.dirty, nil
	}
	return true, k.acquire(found.Claims, 0)
}

// Write carries out the UPDATE: it locks, asserts, has GORM write the rows with their new paths,
// and rewrites the paths below them.
func (k *updating) Write() error {
	t, db, stmt := k.Table, k.DB, k.DB.Statement
	if stmt.Schema != nil {
		if err := k.Apply(stmt.Schema.UpdateClauses); err != nil {
			return err
		}
	}
	a, err := k.assignmentIn(stmt)
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
	if !a.touches() || !hasCondition(stmt) && !db.AllowGlobalUpdate {
		if _, limited := stmt.Clauses["LIMIT"]; limited && !k.builds("LIMIT") {
			return t.Unsupported("GORM leaves the LIMIT out of an UPDATE on this database: state the rows by a subquery, as in Where(\"id IN (?)\", …)")
		}
		k.write()
		return nil
	}
	defer k.unpinned()()
	k.describe(a)
	if k.tx != nil {
		if err := k.ensureTransaction(); err != nil {
			return err
		}
	}
	planned, err := k.planned(a)
	// In a transaction, a plain read may be of an old snapshot.
	unsure := k.dirty || planned != k.plan && k.Dialect.Newest != ""
	if err == nil && planned.StaysPut() && a.Parents == nil && !unsure {
		return k.updateInPlace(a, planned)
	}
	if err != nil && (!k.Asserts || !isOutdated(err)) {
		return err
	}
	if begun := k.ensureTransaction(); begun != nil {
		return begun
	}
	found, err := k.assertEffect(&a.Change, stmt, planned, err)
	switch {
	case err != nil:
		return err
	case a.Deletes:
		return k.mark(a, found)
	case found.StaysPut() && a.Parents == nil:
		return k.updateInPlace(a, found) // The plain read was older than the rows.
	default:
		return k.updateMoved(a, found)
	}
}

// planned returns what the update does according to plain reads. The survey's plan is as good as a
// new read, unless an association has been saved since that may have moved the row.
func (k *updating) planned(a *assignment) (*plan.Effect, error) {
	if k.plan != nil && k.surveyed.SameAs(&a.Change) && (!k.plan.StaysPut() || !k.savesAbove()) {
		return k.plan, nil
	}
	return k.surveyEffect(&a.Change, k.DB.Statement)
}

// savesAbove reports whether a row of the table above is saved along with the one of the statement.
func (s *statement) savesAbove() bool {
	stmt := s.DB.Statement
	return stmt.ReflectValue.Kind() == reflect.Struct && slices.ContainsFunc(s.Table.Schema.Relationships.BelongsTo, func(r *schema.Relationship) bool {
		_, zero := r.Field.ValueOf(stmt.Context, stmt.ReflectValue)
		return !zero && r.FieldSchema.Table == s.Table.Above.TableName
	})
}

// updateInPlace writes the other columns of rows that stay where they are. It does not write the
// columns of their place, and needs no lock: somebody may move the rows meanwhile, with the same
// result as afterwards.
func (k *updating) updateInPlace(a *assignment, x *plan.Effect) error {
	t, stmt := k.Table, k.DB.Statement
	for _, f := range t.PlaceColumns() {
		a.drop(f)
	}
	// If a row above has moved, the version has grown, too.
	if t.Version != nil && (x.HasVersion(a.version) || x.StatesOutdated()) {
		a.drop(t.Version)
	}
	a.orNothing(t)
	stmt.AddClause(a.set)
	conditions := slices.Clone(clauseOf[clause.Where](stmt).Exprs)
	if a.Restores {
		conditions = append(conditions, t.Alive) // nobody has locked the place of a row that is deleted meanwhile
	}
	_, err := k.writeParts(x.IDs(), func(ids []any) int {
		pin(t, stmt, ids, conditions...)
		return 0
	})
	if err != nil {
		return err
	}
	hit := stmt.DB.RowsAffected > 0
	if !hit && len(x.Live) > 0 && (x.StatesOutdated() || savesOne(stmt)) {
		// MySQL does not count a row that has the values already. Save would take it for stale.
		if hit, err = k.stillHits(x); err != nil {
			return err
		}
	}
	if hit {
		err = k.writeBack(x, true)
	} else {
		err = k.refuseMissed()
	}
	if err != nil {
		return err
	}
	return k.reportPlace(x)
}

// stillHits reports whether the conditions of an update that changed nothing, those of an
// optimistic lock included, hit rows. It notes where the rows are. It reads under row locks: a
// snapshot may be older than what the update has seen.
func (k *updating) stillHits(x *plan.Effect) (bool, error) {
	rows, err := k.Table.Read(k.DB, selectionOf(k.Table, k.DB.Statement, x.IDs(), k.Dialect.Update))
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
func (k *updating) refuseMissed() error {
	stmt := k.DB.Statement
	if !savesOne(stmt) {
		return nil
	}
	rows, err := k.arrivals()
	if err != nil {
		return nil //nolint:nilerr // It may be a new row, and the upsert will say what is wrong with it.
	}
	skip := stmt.SkipHooks
	defer func() { stmt.SkipHooks = skip }()
	stmt.SkipHooks = true
	stmt.AddClause(clause.OnConflict{UpdateAll: true}) // until the statement is unpinned
	_, _, err = k.settleUpsert(rows, k.Dialect.Update)
	return err
}

// savesOne reports whether an update is the first half of a Save of one row. GORM runs an Updates
// of a whole struct, with Select("*"), in the same form.
func savesOne(stmt *gorm.Statement) bool {
	return slices.Equal(stmt.Selects, []string{"*"}) && stmt.ReflectValue.Kind() == reflect.Struct && stmt.ReflectValue.CanAddr() && stmt.Model == stmt.Dest
}

// updateMoved writes rows, some of which move, and the paths of all that is below these.
func (k *updating) updateMoved(a *assignment, x *plan.Effect) (err error) {
	a.Change = *x.Change // with the parent that a path says
	descend, err := k.checkMoves(x)
	if err != nil {
		return err
	}
	onward := x.Moves
	if x.Crosses() {
		k.written = true // from here on, a failure leaves rows where none can be
		defer func() {
			if err == nil {
				return
			}
			if taken, _ := k.takesName(); taken {
				err = k.nameTaken(err)
			}
		}()
		if onward, err = k.setAside(x.Moves, descend); err != nil {
			return err
		}
	}
	written, err := k.writeMoved(a, x)
	if err != nil {
		return err
	}
	if written == 0 && (len(x.Moves) > 0 || len(x.IDs()) == 0) {
		return k.refuseMissed()
	}
	if err := k.recheckTop(); err != nil {
		return err
	}
	if descend {
		if err := k.rewriteMoved(onward); err != nil {
			return err
		}
	}
	if err := k.rewriteLeaves(x.Moves); err != nil {
		return err
	}
	if err := k.writeBack(x, false); err != nil {
		return err
	}
	return k.reportPlace(x)
}

// checkMoves looks at the new places of the rows, and below the rows. It refuses what could not be
// written, and reports whether there are rows below.
func (k *updating) checkMoves(x *plan.Effect) (descend bool, err error) {
	if err = k.checkSlots(x); err == nil {
		err = k.guardTop(x.TopArrivals)
	}
	if err != nil {
		return false, err
	}
	return k.checkSubtrees(x.Moves)
}

// writeMoved writes the rows that the update hits, in parts.
func (k *updating) writeMoved(a *assignment, x *plan.Effect) (written int64, err error) {
	moves, after := make(map[any]plan.Move, len(x.Moves)), make(map[any]*plan.Node, len(x.Moves))
	for _, m := range x.Moves {
		moves[m.ID], after[m.ID] = m, m.After
		k.slots = append(k.slots, nameSlot{m.To, m.After})
	}
	k.Table.Learn(after) // also where it is rolled back: every read shows what is above a row
	assigned := a.set
	return k.writeParts(x.IDs(), func(ids []any) int {
		var moved []plan.Move
		for _, id := range ids {
			if m, ok := moves[id]; ok {
				moved = append(moved, m)
			}
		}
		a.set = assigned
		if a.Parents != nil {
			k.op.Arranged.assign(k.DB.Statement.Context, k.Table, a, x, ids)
		}
		complete(k.Table, a, moved, len(ids), k.Fence)
		a.orNothing(k.Table)
		k.DB.Statement.AddClause(a.set)
		pin(k.Table, k.DB.Statement, ids)
		return len(moved)
	})
}
