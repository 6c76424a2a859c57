package gormplugin

import (
	"github.com/pathlock-go/pathlock/gormplugin/internal/statement"
	"gorm.io/gorm"
)

// Delete deletes the row with the id and all its descendants, and returns how many rows that were:
// as db.Delete(model, id), which counts the row alone, and with the same lock, X on the row. Rows
// that are deleted softly are marked, on db.Unscoped() removed for good; rows that had been deleted
// before stay as they are. Leaves that hang in the subtree are left to the caller: see [Leaves].
//
// In a transaction of the caller's it takes part in that. Outside of one it has one of its own,
// which is run again while the database gives it up. A row that is not there, or deleted already,
// is an error that matches [pathlock.ErrNotFound].
func Delete(db *gorm.DB, model, id any) (rows int64, err error) {
	p, t, err := subject(db, model)
	if err != nil {
		return 0, err
	}
	key, err := t.KeyOf(id)
	if err != nil {
		return 0, err
	}
	err = p.operate(db, func(db *gorm.DB) error {
		e := &statement.Errand{ID: key}
		result := e.Statement(db, t).Delete(t.Fresh())
		rows = result.RowsAffected + e.Along
		return result.Error
	})
	if err != nil {
		return 0, err
	}
	return rows, nil
}
