package gormplugin

import (
	"github.com/pathlock-go/pathlock/gormplugin/internal/statement"
	"gorm.io/gorm"
)

// Move puts the row with the id, and with it its subtree, below another row of the same tree, under
// the name that it has. A parent that is nil, or a nil pointer, is the top, in a tree that has no
// root row. The locks are X on the row and on its new name slot. Otherwise it is as [Rename].
//
// Errors match [ErrWouldCycle] where the parent is the row itself or lies below it, in which case
// no path lock has been taken; [pathlock.ErrNotFound] where the row or the parent is not there;
// [ErrRootRow] for the top of a tree with a root row; [ErrUnsupported] for a parent in another
// tree, for the root row, and for the top where the row is a leaf; and what [Rename] may fail with.
func Move(db *gorm.DB, model, id, parent any) error {
	p, t, err := subject(db, model)
	if err != nil {
		return err
	}
	key, err := t.KeyOf(id)
	if err != nil {
		return err
	}
	above, err := t.ParentKey(parent)
	if err != nil {
		return err
	}
	if err := t.IsWritable(t.Parent); err != nil {
		return err
	}
	return p.operate(db, func(db *gorm.DB) error {
		value := above
		if above == nil {
			value = t.NoParent()
		}
		e := &statement.Errand{ID: key, Into: t.StructOf(model)}
		return e.Statement(db, t).Update(t.Parent.DBName, value).Error
	})
}
