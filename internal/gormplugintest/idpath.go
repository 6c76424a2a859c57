package gormplugintest

import (
	"math/rand/v2"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// Entry is a tree with a path of ids only.
type Entry struct {
	ID       int64
	DriveID  string `pathlock:"tree" gorm:"size:36;uniqueIndex:entry_sibling;index:entry_ids,priority:1"`
	ParentID int64  `pathlock:"parent" gorm:"uniqueIndex:entry_sibling"`
	Name     string `pathlock:"name" gorm:"size:100;uniqueIndex:entry_sibling"`
	IDs      string `pathlock:"idpath" gorm:"column:ids;size:200;index:entry_ids,priority:2"`
	Version  int64  `pathlock:"version"`
}

// Shelf is a tree with both kinds of path, whose rows are deleted softly.
type Shelf struct {
	ID       int64
	DriveID  string `pathlock:"tree" gorm:"size:36;index:shelf_path,priority:1"`
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name" gorm:"size:100"`
	Path     string `pathlock:"path" gorm:"size:500;index:shelf_path,priority:2"`
	IDs      string `pathlock:"idpath" gorm:"column:ids;size:200"`
	Version  int64  `pathlock:"version"`
	Deleted  gorm.DeletedAt
}

// idPathChecks are about keys that a path of ids needs and that cannot be known beforehand.
func idPathChecks() []check {
	return []check{
		{"ids: a text in another form is a damaged row", func(w *world) {
			top := &Dept{FirmID: rand.Int64N(1 << 50), Name: "top"}
			w.must(w.db.Create(top).Error)
			w.must(gormplugin.AllowRawWrites(w.db).Exec("UPDATE depts SET dept_path = ? WHERE id = ?", "/1/", top.ID).Error)
			_, err := gormplugin.Resolve(w.db, &Dept{}, top.ID)
			w.fails(err, gormplugin.ErrDamagedRow)
			w.fails(w.db.Create(&Dept{ParentID: top.ID, Name: "below"}).Error, gormplugin.ErrDamagedRow)
			w.fails(w.db.Delete(top).Error, gormplugin.ErrDamagedRow)
		}},
		{"ids: what cannot be known beforehand is refused", func(w *world) {
			top := &Entry{DriveID: w.tree().ID(), Name: "top"}
			w.must(w.db.Create(top).Error)
			w.fails(w.db.Model(&Entry{}).Create(map[string]any{"parent_id": top.ID, "name": "m"}).Error, gormplugin.ErrUnsupported)
			w.fails(w.db.Omit("id").Create(&Entry{ID: top.ID + 1, ParentID: top.ID, Name: "o"}).Error, gormplugin.ErrUnsupported)
			w.fails(w.db.Create(&Entry{ParentID: top.ID, Name: "a", IDs: "/elsewhere"}).Error, pathlock.ErrPathChanged)
		}},
	}
}
