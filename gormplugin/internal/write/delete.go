package write

import (
	"maps"
	"slices"

	"github.com/pathlock-go/pathlock/gormplugin/internal/hold"
	"github.com/pathlock-go/pathlock/gormplugin/internal/statement"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
)

// deleting is a DELETE.
type deleting struct {
	*Planner
	// removal is what the survey found; nil if there was none.
	removal *removal
}

// Survey takes the locks on the subtrees that the DELETE will remove.
func (k *deleting) Survey(db *gorm.DB, st *statement.Statement) (bool, error) {
	st.Operation = "delete"
	st.Note = "delete from " + st.Table.TableName
	stmt := rehearsal(st.Table, db)
	stmt.ReflectValue = db.Statement.ReflectValue
	addKeys(st.Table, stmt)
	if !HasCondition(stmt) && !db.AllowGlobalUpdate {
		return false, nil
	}
	planned, err := k.surveyRemoval(db, st.Table, stmt)
	if err != nil {
		return false, err
	}
	k.removal = planned
	return true, k.AcquireEarly(db, &st.Held, planned.claims)
}

// Write carries out the DELETE: it locks, asserts, deletes what lies below the rows, and has GORM
// delete the rows themselves.
func (k *deleting) Write(w *statement.Writing) error {
	t, db, st := w.St.Table, w.DB, w.St
	st.Operation = "delete"
	st.Note = "delete from " + t.TableName
	if err := w.Apply(t.ClausesOfDelete); err != nil {
		return err
	}
	stmt := db.Session(&gorm.Session{Initialized: true}).Statement
	addKeys(t, stmt)
	if !HasCondition(stmt) && !db.AllowGlobalUpdate {
		w.GORMWrite(db)
		return nil
	}
	if err := w.EnsureTransaction(); err != nil {
		return err
	}
	gone, err := k.settle(db, w.Tx, st, stmt)
	if err != nil {
		return err
	}
	ids := make([]any, 0, len(gone.tops)+len(gone.hit.dead))
	for _, n := range gone.tops {
		ids = append(ids, n.ID)
	}
	// Deleted rows may refer to live ones below the tops, and have to go before these.
	dead := gone.hit.dead
	if len(ids) == 0 || t.IsLeaf() {
		ids, dead = slices.AppendSeq(ids, maps.Keys(dead)), nil
	}
	if w.Builds("RETURNING") && len(ids) < len(gone.hit.ids()) {
		return t.Unsupported("RETURNING would lack rows that lie below others of the statement, or that were deleted before: read the rows first, or delete them apart")
	}
	if err := removeDead(w, dead); err != nil {
		w.Tx.Abandon(err)
		return err
	}
	below, err := k.removeBelow(db, t, gone.tops)
	if err != nil {
		w.Tx.Abandon(err)
		return err
	}
	written, err := w.WriteParts(ids, func(ids []any) int {
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
		return w.Missed(int64(len(ids)), 0)
	}
	db.RowsAffected += int64(len(gone.hit.live) - len(gone.tops) + len(dead))
	statement.ErrandOf(db).WentAlong(below)
	return nil
}

// Explain has nothing to add.
func (k *deleting) Explain(*gorm.DB, *statement.Statement) {}

// End has nothing to undo.
func (k *deleting) End(*gorm.DB) {}

// settle works out which rows are deleted, and locks them.
func (k *deleting) settle(db *gorm.DB, tx *txn.Transaction, st *statement.Statement, stmt *gorm.Statement) (*removal, error) {
	t := st.Table
	return hold.Settle(k.Keeper, db, tx, &st.Held, hold.Rounds[*removal]{
		Plan: func(locking bool) (*removal, error) {
			switch {
			case locking:
				return k.lockedRemoval(db, t, stmt)
			case k.removal == nil:
				return k.surveyRemoval(db, t, stmt)
			default:
				return k.removal, nil
			}
		},
		Needs:  func(x *removal) hold.Demand { return x.claims },
		Assert: func(x *removal) (*removal, error) { return k.assertRemoval(db, t, stmt, x) },
		Stale:  hold.IsOutdated,
		Moved:  hold.HasMoved,
	})
}
