package write

import (
	"maps"
	"slices"
)

// mark carries out an UPDATE that marks rows as deleted, as a soft DELETE: it locks, asserts, has
// GORM write the rows, and gives all that lies below them the same marks. What else it assigns to a
// row is written as it is, but for what follows from a place: the row has none any more.
func (k *updating) mark(w *writing, a *assignment) error {
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
