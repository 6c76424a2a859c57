package gormplugin

import (
	"github.com/pathlock-go/pathlock/gormplugin/internal/statement"
	"gorm.io/gorm"
)

// Rename gives the row with the id another name, and all its descendants the paths that follow from
// it, in one statement: as db.Model(model).Update would, and with the same locks, X on the row and
// on its new name slot. The row's hooks run, on an empty row of the model, and its update time is
// set. A row that has the name already stays as it is. A leaf, which has no descendants, can be
// renamed as well.
//
// Where model points to a struct, its key, tree, parent, name, paths and version are then those of
// the row; other fields stay as they are.
//
// In a transaction of the caller's it takes part in that. Outside of one it has one of its own,
// which is run again while the database gives it up.
//
// Errors match [pathlock.ErrNotFound], [ErrNameTaken], [pathlock.ErrInvalidPath] where the name
// cannot be one, [ErrPathTooLong] where the path of any descendant would not fit, [ErrUnsupported]
// for the root row of a tree, or what every write may be refused with. Nothing is written then.
func Rename(db *gorm.DB, model, id any, name string) error {
	p, t, err := subject(db, model)
	if err != nil {
		return err
	}
	key, err := t.KeyOf(id)
	if err != nil {
		return err
	}
	if err := t.IsWritable(t.Name); err != nil {
		return err
	}
	return p.operate(db, func(db *gorm.DB) error {
		e := &statement.Errand{ID: key, Into: t.StructOf(model)}
		return e.Statement(db, t).Update(t.Name.DBName, name).Error
	})
}
