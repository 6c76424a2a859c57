package gormplugintest

import (
	"errors"

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

// Genre is a tree with a path of ids that are texts.
type Genre struct {
	ID       string  `gorm:"primaryKey;size:36"`
	DriveID  string  `pathlock:"tree" gorm:"size:36;index:genre_ids,priority:1"`
	ParentID *string `pathlock:"parent" gorm:"size:36"`
	Name     string  `pathlock:"name" gorm:"size:100"`
	IDs      string  `pathlock:"idpath" gorm:"column:ids;size:400;index:genre_ids,priority:2"`
}

// How the reader sees them: in a path of ids, the id is what each row adds.
var (
	entries = treeTable{name: "entries", key: "id", tree: "drive_id", parent: "parent_id", label: "id", path: "ids", none: "0"}
)

// drive is the plan's number as the id of a tree of entries, shelves or genres.
func (w *world) drive() string { return w.tree().ID() }

// entry makes an entry below parent, 0 for none.
func (w *world) entry(db *gorm.DB, parent int64, name string) *Entry {
	w.Helper()
	e := &Entry{DriveID: w.drive(), ParentID: parent, Name: name}
	w.must(db.Create(e).Error)
	return e
}

// soundIn checks trees with the independent reader.
func (w *world) soundIn(tables ...treeTable) {
	w.Helper()
	for _, t := range tables {
		_, found := t.problems(w.db, w.drive())
		for _, problem := range found {
			w.Errorf("%s.%s: %s", t.name, t.path, problem)
		}
	}
}

func idPathChecks() []check {
	return []check{
		{"ids: what cannot be known beforehand is refused", func(w *world) {
			top := w.entry(w.db, 0, "top")
			for what, write := range map[string]func() error{
				"a map without the key": func() error {
					return w.db.Model(&Entry{}).Create(map[string]any{"drive_id": w.drive(), "parent_id": top.ID, "name": "m"}).Error
				},
				"a key that is stated and omitted": func() error {
					return w.db.Omit("id").Create(&Entry{ID: top.ID, ParentID: top.ID, Name: "o"}).Error
				},
			} {
				if err := write(); !errors.Is(err, gormplugin.ErrUnsupported) {
					w.Errorf("%s: %v, want %v", what, err, gormplugin.ErrUnsupported)
				}
			}
			w.fails(w.db.Create(&Entry{ParentID: top.ID, Name: "a", IDs: "/elsewhere"}).Error, pathlock.ErrPathChanged)
			w.fails(w.db.Model(top).Update("ids", "/elsewhere").Error, pathlock.ErrPathChanged)
			w.must(w.db.Model(&Entry{}).Create(map[string]any{"id": top.ID + 1_000_000, "parent_id": top.ID, "name": "m"}).Error)
			w.soundIn(entries)
			var n int64
			w.must(w.db.Model(&Entry{}).Where("drive_id = ?", w.drive()).Count(&n).Error)
			if n != 2 {
				w.Errorf("%d rows, want 2", n)
			}
		}},
	}
}
