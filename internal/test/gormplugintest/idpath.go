package gormplugintest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

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
	Grade    *int8  `pathlock:"depth,top:3"`
	Version  int64  `pathlock:"version"`
	Deleted  gorm.DeletedAt
}

// idPathChecks are about keys that a path of ids needs and that cannot be known beforehand.
func idPathChecks() []check {
	return []check{
		{"ids: a text in another form is a damaged row", func(w *world) {
			for _, text := range []any{"/1/", "1,", "", nil} {
				top := &Dept{FirmID: rand.Int64N(1 << 50), Name: "top"}
				w.must(w.db.Create(top).Error)
				w.must(gormplugin.AllowRawWrites(w.db).Exec("UPDATE depts SET dept_path = ? WHERE id = ?", text, top.ID).Error)
				w.isDamaged(&Dept{}, top.ID)
				w.fails(w.db.Create(&Dept{ParentID: top.ID, Name: "below"}).Error, gormplugin.ErrDamagedRow)
			}
		}},
		{"an empty path that is none of a root row's is a damaged row", func(w *world) {
			entry := &Entry{DriveID: w.tree().ID(), Name: "top"}
			w.must(w.db.Create(entry).Error)
			w.must(gormplugin.AllowRawWrites(w.db).Exec("UPDATE entries SET ids = '' WHERE id = ?", entry.ID).Error)
			w.isDamaged(&Entry{}, entry.ID)
			top := w.build("/a/b")
			is := func(path string) {
				w.must(gormplugin.AllowRawWrites(w.db).Exec("UPDATE suites SET path = ? WHERE id = ?", path, top.ID).Error)
			}
			is("")
			w.isDamaged(&Suite{}, top.ID)
			w.fails(w.db.Delete(&Suite{}, top.ParentID).Error, gormplugin.ErrDamagedRow) // it would be left behind
			is("/a/b")
		}},
		{"ids: what cannot be known beforehand is refused", func(w *world) {
			top := &Entry{DriveID: w.tree().ID(), Name: "top"}
			w.must(w.db.Create(top).Error)
			w.fails(w.db.Model(&Entry{}).Create(map[string]any{"parent_id": top.ID, "name": "m"}).Error, gormplugin.ErrUnsupported)
			w.fails(w.db.Omit("id").Create(&Entry{ID: top.ID + 1, ParentID: top.ID, Name: "o"}).Error, gormplugin.ErrUnsupported)
			w.fails(w.db.Create(&Entry{DriveID: w.tree().ID(), Name: "a", IDs: "/elsewhere"}).Error, gormplugin.ErrMisplaced)
			// As programs that have no parents move a row to the top.
			w.must(w.db.Model(top).Select("name", "ids").Updates(&Entry{Name: "top"}).Error)
			below := &Entry{ParentID: top.ID, Name: "b"}
			w.must(w.db.Create(below).Error)
			w.fails(w.db.Model(below).Select("name", "ids").Updates(&Entry{Name: "b"}).Error, gormplugin.ErrMisplaced)
		}},
		{"ids: a row has the path of its own key, or is refused where GORM works out another one", func(w *world) {
			top := &Entry{DriveID: w.tree().ID(), Name: "top"}
			w.must(w.db.Create(top).Error)
			rows := []Entry{{ParentID: top.ID, Name: "a"}, {ID: top.ID + 1000, ParentID: top.ID, Name: "b"}, {ParentID: top.ID, Name: "c"}}
			if err := w.db.Create(&rows).Error; err != nil {
				w.fails(err, gormplugin.ErrUnsupported)
			}
			var found []Entry
			w.must(w.db.Find(&found, "parent_id = ?", top.ID).Error)
			for _, row := range found {
				if want := fmt.Sprintf("%s/%d", top.IDs, row.ID); row.IDs != want {
					w.Errorf("%s has the path %q, want %q", row.Name, row.IDs, want)
				}
			}
		}},
	}
}

// ward is in the only tree of its table, and has neither a name nor a key that the database makes.
type ward struct {
	ID    string `gorm:"primaryKey;size:36"`
	Above string `pathlock:"parent" gorm:"size:36"`
	IDs   string `pathlock:"idpath" gorm:"column:ids;size:500"`
}

// checkUnnamed checks that errors about new rows without names say what is wrong with the rows, and
// that none is written without a path.
func checkUnnamed(t *testing.T, d Database) {
	w := machineWorld(t, d, settings{}, []gormplugin.Option{gormplugin.Model(&ward{}, gormplugin.SingleTree("wards"))})
	w.must(w.db.AutoMigrate(&ward{}))
	w.must(w.db.Create(&ward{ID: "a"}).Error)
	w.fails(w.db.Create(&ward{Above: "a"}).Error, gormplugin.ErrUnsupported)
	w.fails(w.db.Create([]ward{{Above: "a", ID: "b"}, {Above: "a"}}).Error, gormplugin.ErrUnsupported)
	if err := w.db.Create([]ward{{Above: "a", ID: "c"}, {Above: "a", ID: "c"}}).Error; err == nil || isA(err, gormplugin.ErrNameTaken) {
		t.Errorf("two rows with one key: %v, want the error of the database", err)
	}
	if err := w.db.Create(&ward{Above: "gone"}).Error; !isA(err, pathlock.ErrNotFound) || strings.Contains(err.Error(), "new-") {
		t.Errorf("a row below none: %v, want an error without a name that was made up", err)
	}
	w.hits(w.db.Find(&[]ward{}), 1)
}

// checkCopyUnnamed copies twins, each with a row of its own below.
func checkCopyUnnamed(t *testing.T, d Database) {
	w := machineWorld(t, d, settings{}, []gormplugin.Option{gormplugin.Model(&Menu{}, gormplugin.SingleTree("menus"))})
	w.must(w.db.AutoMigrate(&Menu{}))
	w.must(gormplugin.AllowRawWrites(w.db).Exec("DELETE FROM menus").Error) // of the machine's
	top := &Menu{Title: "top"}
	w.must(w.db.Create(top).Error)
	twins := []*Menu{{ParentID: top.ID, Title: "twin"}, {ParentID: top.ID, Title: "twin"}}
	w.trace.reset()
	w.must(w.db.Create(&twins).Error)
	if grants := strings.Count(w.trace.String(), "grant"); grants != 1 {
		t.Errorf("new rows without names or keys took %d grants, want 1: %s", grants, w.trace)
	}
	w.must(w.db.Create([]*Menu{{ParentID: twins[0].ID, Title: "first"}, {ParentID: twins[1].ID, Title: "second"}}).Error)
	_, err := gormplugin.Copy(w.db, &Menu{}, top.ID, gormplugin.Top(), gormplugin.CopyAs("name"))
	w.fails(err, gormplugin.ErrUnsupported)
	var made Menu
	rows, err := gormplugin.Copy(w.db, &made, top.ID, gormplugin.Below(twins[0].ID))
	w.must(err)
	if rows != 5 || made.ParentID != twins[0].ID || made.Paths != fmt.Sprintf("/0/%d/%d/%d/", top.ID, twins[0].ID, made.ID) {
		t.Errorf("%d rows, the top one %+v", rows, made)
	}
	titles, found := w.tableOf(shape{model: Menu{}, sole: "menus", nameless: true}).problems(w.db, "menus")
	var want []string
	for _, above := range []string{"", "/top/twin"} {
		for title := range strings.FieldsSeq("/top /top/twin /top/twin /top/twin/first /top/twin/second") {
			want = append(want, above+title)
		}
	}
	if !slices.Equal(titles, want) || len(found) > 0 {
		t.Errorf("the rows are %q, want %q: %v", titles, want, found)
	}
	var parents int64
	if w.must(w.db.Model(&Menu{}).Where("parent_id <> 0").Distinct("parent_id").Count(&parents).Error); parents != 6 {
		t.Errorf("%d rows have others below them, want each twin, the copies, too", parents)
	}
}

// isDamaged checks that nothing says where a row is that no path leads to, or what lies below it,
// and that it can be neither moved nor deleted.
func (w *world) isDamaged(model any, id int64) {
	w.Helper()
	_, err := gormplugin.Resolve(w.db, model, id)
	w.fails(err, gormplugin.ErrDamagedRow)
	w.fails(gormplugin.Subtree(w.db, model, id).Find(&[]map[string]any{}).Error, gormplugin.ErrDamagedRow)
	w.fails(gormplugin.Move(w.db, model, id, gormplugin.Top()), gormplugin.ErrDamagedRow)
	w.fails(w.db.Delete(model, id).Error, gormplugin.ErrDamagedRow)
}
