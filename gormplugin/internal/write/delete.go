package write

import (
	"maps"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
)

// deleting is a DELETE.
type deleting struct {
	*Engine
	// removal is what the survey found; nil if there was none.
	removal *plan.Removal
}

// Survey takes the locks on the subtrees that the DELETE will remove.
func (k *deleting) Survey(db *gorm.DB, st *Statement) (bool, error) {
	stmt := db.Session(&gorm.Session{Initialized: true}).Statement
	addKeys(st.Table, stmt)
	if !HasCondition(stmt) && !db.AllowGlobalUpdate {
		return false, nil
	}
	planned, err := k.surveyRemoval(db, st.Table, stmt)
	if err != nil {
		return false, err
	}
	k.removal = planned
	return true, k.acquireEarly(db, &st.pathLocks, planned.Claims)
}

// Write carries out the DELETE: it locks, asserts, deletes what lies below the rows, and has GORM
// delete the rows themselves.
func (k *deleting) Write(w *writeRun) error {
	t, db := w.St.Table, w.DB
	if err := w.Apply(t.ClausesOfDelete); err != nil {
		return err
	}
	// All rows are deleted at one time.
	config, now := *db.Config, db.NowFunc()
	config.NowFunc = func() time.Time { return now }
	defer func(own *gorm.Config) { db.Config = own }(db.Config)
	db.Config = &config
	stmt := db.Session(&gorm.Session{Initialized: true}).Statement
	addKeys(t, stmt)
	if !HasCondition(stmt) && !db.AllowGlobalUpdate {
		w.write()
		return nil
	}
	db.Statement.Clauses = stmt.Clauses // as GORM leaves them
	defer w.unpinned()()
	if err := w.ensureTransaction(); err != nil {
		return err
	}
	gone, err := k.assertRemoval(w, stmt, k.removal)
	if err != nil {
		return err
	}
	ids := make([]any, 0, len(gone.Tops)+len(gone.Dead))
	for _, n := range gone.Tops {
		ids = append(ids, n.ID)
	}
	// Deleted rows may refer to live ones below the tops, and have to go before these.
	dead := gone.Dead
	if len(ids) == 0 || t.IsLeaf {
		ids, dead = slices.AppendSeq(ids, maps.Keys(dead)), nil
	}
	if w.builds("RETURNING") && len(ids) < len(gone.IDs()) {
		return t.Unsupported("RETURNING would lack rows that lie below others of the statement, or that were deleted before: read the rows first, or delete them apart")
	}
	if err := removeDead(w, dead); err != nil {
		w.Tx.Abandon(err)
		return err
	}
	below, err := k.removeBelow(db, t, gone.Tops, nil)
	if err != nil {
		w.Tx.Abandon(err)
		return err
	}
	written, err := w.writeParts(ids, func(ids []any) int {
		pin(t, db.Statement, ids)
		return len(ids)
	})
	switch {
	case below == 0 && len(dead) == 0:
		return err
	case err != nil:
		// Other rows are gone already. The transaction ends even if the caller ignores the
		// error.
		w.Tx.Abandon(err)
		return err
	case written == 0:
		return w.missed(int64(len(ids)), 0)
	}
	db.RowsAffected += int64(len(gone.Live) - len(gone.Tops) + len(dead))
	operationOf(db).wentAlong(below)
	return nil
}

// assertRemoval locks the rows that a statement deletes, and asserts what their deletion rests on.
// planned is what the survey found; nil if there was none.
func (e *Engine) assertRemoval(w *writeRun, stmt *gorm.Statement, planned *plan.Removal) (*plan.Removal, error) {
	t, db := w.St.Table, w.DB
	first := func() (*plan.Removal, error) {
		if planned != nil {
			return planned, nil
		}
		return e.surveyRemoval(db, t, stmt)
	}
	return assertTargets(e, w, stmt, first, func(hit plan.Hits, known map[any]*table.Node, lock string) (*plan.Removal, error) {
		return removalOf(db, t, hit, known, lock)
	})
}

// surveyRemoval works out by plain reads what a DELETE does.
func (e *Engine) surveyRemoval(db *gorm.DB, t *table.Table, stmt *gorm.Statement) (*plan.Removal, error) {
	hit, known, err := e.survey(db, t, stmt)
	if err != nil {
		return nil, err
	}
	return removalOf(db, t, hit, known, "")
}

// removalOf works out what the deletion of rows does. known are rows that need not be read again.
func removalOf(db *gorm.DB, t *table.Table, hit plan.Hits, known map[any]*table.Node, share string) (*plan.Removal, error) {
	if err := operationOf(db).missed(t, len(hit.Live)); err != nil {
		return nil, err
	}
	parents, err := t.Above.Rows(db, known, hit.Outside(t.IsLeaf), share)
	if err != nil {
		return nil, err
	}
	return t.Delete(hit, parents)
}

// mark carries out an UPDATE that marks rows as deleted, as a soft DELETE: it locks, asserts, has
// GORM write the rows, and gives all that lies below them the same marks. What else it assigns to a
// row is written as it is, but for what follows from a place: the row has none any more.
func (k *updating) mark(w *writeRun, a *assignment) error {
	t, db, stmt := w.St.Table, w.DB, w.DB.Statement
	if err := w.ensureTransaction(); err != nil {
		return err
	}
	gone, err := k.assertRemoval(w, stmt, k.removal)
	if err != nil {
		return err
	}
	if err := t.CheckChange(&a.Change, gone.Hits); err != nil {
		return err
	}
	for _, f := range t.PlaceColumns() {
		if f != t.Name && f != t.Parent {
			a.drop(f)
		}
	}
	if a.version != nil {
		a.drop(t.Version)
	}
	stmt.AddClause(a.set)
	written, err := w.writeParts(gone.IDs(), func(ids []any) (live int) {
		pin(t, stmt, ids)
		for _, id := range ids {
			if gone.Live[id] != nil {
				live++
			}
		}
		return live
	})
	if err != nil {
		return err
	}
	switch {
	case written == 0 && len(gone.Live) == 0:
		// MySQL does not count a row that has the values already. Save would insert it.
		db.RowsAffected = int64(len(gone.Dead))
		return nil
	case written == 0:
		return nil
	}
	// Of all rows, not of the topmost: what lies between may be marked by now.
	below, err := k.removeBelow(db, t, slices.Collect(maps.Values(gone.Live)), a.marks)
	if err != nil {
		w.Tx.Abandon(err)
		return err
	}
	operationOf(db).wentAlong(below)
	return nil
}
