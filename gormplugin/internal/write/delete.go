package write

import (
	"maps"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"gorm.io/gorm"
)

// deleting is a DELETE.
type deleting struct {
	*statement
	// plan is what the survey found; nil if there was none.
	plan *plan.Effect
}

// deletion is the change that a DELETE asks for.
var deletion = &plan.Change{Deletes: true}

// Survey takes the locks on the subtrees that the DELETE will remove.
func (k *deleting) Survey() (touches bool, err error) {
	stmt := k.rowsToDelete()
	if !hasCondition(stmt) && !k.DB.AllowGlobalUpdate {
		return false, nil
	}
	if k.plan, err = k.surveyEffect(deletion, stmt); err != nil {
		return false, err
	}
	return true, k.acquire(k.plan.Claims, 0)
}

// rowsToDelete returns a copy of the statement that says which rows it deletes.
func (k *deleting) rowsToDelete() *gorm.Statement {
	stmt := k.DB.Session(&gorm.Session{Initialized: true}).Statement
	addKeys(k.Table, stmt)
	return stmt
}

// Write carries out the DELETE: it locks, asserts, deletes what lies below the rows, and has GORM
// delete the rows themselves.
func (k *deleting) Write() error {
	t, db := k.Table, k.DB
	if err := k.Apply(t.ClausesOfDelete); err != nil {
		return err
	}
	// All rows get the same time of deletion.
	config, now := *db.Config, db.NowFunc()
	config.NowFunc = func() time.Time { return now }
	defer func(own *gorm.Config) { db.Config = own }(db.Config)
	db.Config = &config
	stmt := k.rowsToDelete()
	if !hasCondition(stmt) && !db.AllowGlobalUpdate {
		k.write()
		return nil
	}
	db.Statement.Clauses = stmt.Clauses // as GORM leaves them
	defer k.unpinned()()
	if err := k.ensureTransaction(); err != nil {
		return err
	}
	planned, err := k.plan, error(nil)
	if planned == nil {
		planned, err = k.surveyEffect(deletion, stmt)
	}
	gone, err := k.assertEffect(deletion, stmt, planned, err)
	if err != nil {
		return err
	}
	ids := valuesOf(gone.Tops, idOf)
	// Deleted rows may refer to live ones below the tops, and have to go before these.
	dead := gone.Dead
	if len(ids) == 0 || t.IsLeaf {
		ids, dead = slices.AppendSeq(ids, maps.Keys(dead)), nil
	}
	if k.builds("RETURNING") && len(ids) < len(gone.IDs()) {
		return t.Unsupported("RETURNING would lack rows that lie below others of the statement, or that were deleted before: read the rows first, or delete them apart")
	}
	k.written = true // whatever is gone by the time that they fail
	if err := k.removeDead(dead); err != nil {
		return err
	}
	below, err := k.removeBelow(gone.Tops, nil)
	if err != nil {
		return err
	}
	k.written = below > 0 || len(dead) > 0
	written, err := k.writeParts(ids, func(ids []any) int {
		pin(t, db.Statement, ids)
		return len(ids)
	})
	switch {
	case err != nil, below == 0 && len(dead) == 0:
		return err
	case written == 0:
		return k.missed(int64(len(ids)), 0)
	}
	db.RowsAffected += int64(len(gone.Live) - len(gone.Tops) + len(dead))
	k.op.wentAlong(below)
	return nil
}

// mark carries out an UPDATE that marks rows as deleted, as a soft DELETE: it has GORM write the
// rows, and gives all that lies below them the same marks. What else it assigns to a row is written
// as it is, but for what follows from a place: the row has none any more.
func (k *updating) mark(a *assignment, gone *plan.Effect) error {
	t, db, stmt := k.Table, k.DB, k.DB.Statement
	for _, f := range t.PlaceColumns() {
		if f != t.Name && f != t.Parent {
			a.drop(f)
		}
	}
	if a.version != nil {
		a.drop(t.Version)
	}
	stmt.AddClause(a.set)
	written, err := k.writeParts(gone.IDs(), func(ids []any) (live int) {
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
	// It starts from all rows, not from the topmost: what lies between may be marked by now.
	below, err := k.removeBelow(slices.Collect(maps.Values(gone.Live)), a.marks)
	if err != nil {
		return err
	}
	k.op.wentAlong(below)
	return nil
}
