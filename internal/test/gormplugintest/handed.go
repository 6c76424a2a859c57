package gormplugintest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Numbered is embedded by a pointer, which GORM fills.
type Numbered struct{ ID int64 }

// Standing is embedded by a pointer, which rows may share.
type Standing struct {
	Parent *int64  `pathlock:"parent"`
	Path   *string `pathlock:"path" gorm:"size:500;uniqueIndex:stated_path,priority:2"`
}

// Stated is a tree whose every column of the place is a pointer, which rows may share.
type Stated struct {
	*Numbered
	*Standing
	Tree *int64  `pathlock:"tree" gorm:"uniqueIndex:stated_path,priority:1"`
	Name *string `pathlock:"name" gorm:"size:100"`
}

// handedChecks are about what callers hand over: the plugin writes only where GORM writes itself.
func handedChecks() []check {
	return []check{
		{"Create of a map adds no column to it", func(w *world) {
			row := map[string]any{"Name": "a", "parent_id": w.root.ID}
			for _, name := range []string{"a", "b"} {
				row["Name"] = name
				w.must(w.db.Model(&Suite{}).Create(row).Error)
				made := maps.Clone(row)
				delete(made, "id") // which GORM adds itself
				if want := (map[string]any{"Name": name, "parent_id": w.root.ID}); !maps.Equal(made, want) {
					w.Errorf("the map is %v", row)
				}
				if row["id"] == nil {
					w.Errorf("GORM tells the key, but the map is %v", row)
				}
				delete(row, "id")
			}
			w.has("/a", "/b")
		}},
		{"Create of maps, of which an upsert has one already, in two tries", func(w *world) {
			a, own := w.build("/a"), w.root.PlanID
			fresh := []map[string]any{{"plan_id": own, "parent_id": w.root.ID, "name": "c"}}
			mixed := []map[string]any{{"plan_id": own, "parent_id": w.root.ID, "name": "d"}, {"id": a.ID, "plan_id": own, "parent_id": w.root.ID, "name": "b"}}
			first := gormplugin.ErrRetry
			w.must(gormplugin.Transaction(w.Context(), w.db, func(tx *gorm.DB) error {
				err := tx.Model(&Suite{}).Create(&fresh).Error
				err = errors.Join(err, tx.Model(&Suite{}).Clauses(clause.OnConflict{UpdateAll: true}).Create(&mixed).Error, first)
				first = nil
				return err
			}))
			w.has("/b", "/c", "/d")
			if len(fresh) != 2 || len(mixed) != 4 || fresh[1]["id"] != w.build("/c").ID || mixed[2]["id"] != w.build("/d").ID {
				w.Errorf("GORM appends the returned keys to %v and %v", fresh, mixed)
			}
		}},
		{"Create of rows that share pointers", func(w *world) {
			tree, path := w.root.PlanID, ""
			w.must(w.db.Create(&Stated{Numbered: &Numbered{tree}, Tree: &tree, Name: new("t")}).Error)
			shared := []*Stated{
				{Standing: &Standing{&tree, &path}, Name: new("a")}, {Standing: &Standing{&tree, &path}, Name: new("b")},
			}
			first := gormplugin.ErrRetry
			w.must(gormplugin.Transaction(w.Context(), w.db, func(tx *gorm.DB) error {
				if shared[0].Numbered != nil {
					w.Error("the further try begins with the keys of the first one")
				}
				err := errors.Join(tx.Create(shared).Error, first)
				first = nil
				return err
			}))
			if path != "" || *shared[0].Path != "/t/a" || *shared[1].Path != "/t/b" {
				w.Errorf("the shared path is %q, the rows' %q and %q", path, *shared[0].Path, *shared[1].Path)
			}
			var paths []string
			w.must(w.db.Model(&Stated{}).Where("tree = ?", tree).Order("path").Pluck("path", &paths).Error)
			if fmt.Sprint(paths) != "[/t /t/a /t/b]" {
				w.Errorf("the paths are %q", paths)
			}
			one, other := &Standing{Parent: &tree}, &Standing{Parent: &tree}
			w.fails(w.db.Create([]*Stated{{Standing: one, Name: new("c")}, {Standing: one, Name: new("d")}}).Error, gormplugin.ErrUnsupported)
			shared[0].Standing, shared[1].Standing = other, other
			w.fails(w.db.Clauses(clause.OnConflict{UpdateAll: true}).Create(shared).Error, gormplugin.ErrUnsupported)
			paths = nil
			w.must(w.db.Model(&Stated{}).Where("tree = ?", tree).Order("path").Pluck("path", &paths).Error)
			if fmt.Sprint(paths) != "[/t /t/a /t/b]" {
				w.Errorf("the paths are %q after refused writes", paths)
			}
		}},
		{"a generic statement gets its result", func(w *world) {
			a := w.build("/a")
			w.build("/b/x")
			updated, deleted, upserted := gorm.WithResult(), gorm.WithResult(), gorm.WithResult()
			w.isA(testerr.Of(gorm.G[Suite](w.db, updated).Where("id = ?", a.ID).Update(w.Context(), "name", "c")), nil)
			rows := []Suite{{ID: a.ID, PlanID: a.PlanID, ParentID: a.ParentID, Name: "d"}, {ParentID: a.ParentID, Name: "e"}}
			w.must(gorm.G[Suite](w.db, upserted, clause.OnConflict{UpdateAll: true}).CreateInBatches(w.Context(), &rows, 2))
			w.isA(testerr.Of(gorm.G[Suite](w.db, deleted).Where("name <> '' AND plan_id = ?", a.PlanID).Delete(w.Context())), nil)
			if updated.RowsAffected != 1 || upserted.RowsAffected != 2 || deleted.RowsAffected != 4 {
				w.Errorf("%d, %d and %d rows", updated.RowsAffected, upserted.RowsAffected, deleted.RowsAffected)
			}
			w.must(errors.Join(updated.Error, upserted.Error, deleted.Error))
		}},
		{"Save that is refused leaves the rows that it would save along", func(w *world) {
			plantPages(w)
			w.must(w.db.Create(&Page{ParentID: w.parent("/a"), Place: named("c")}).Error)
			a := w.page("/a")
			w.must(w.db.Model(&Page{ID: a.Children[0].ID}).Update("at_name", "y").Error)
			w.must(gormplugin.Move(w.db, &Page{}, a.Children[1].ID, gormplugin.Below(w.ids["/d"])))
			before := a.Children[0].Place
			w.fails(w.db.Save(a).Error, pathlock.ErrPathChanged)
			if now := a.Children[0].Place; now != before {
				w.Errorf("the child was handed over as %v, and is %v", before, now)
			}
		}},
		{"Update leaves the conditions of a statement that is used again", func(w *world) {
			a := w.build("/a")
			w.build("/a/b")
			q := w.db.Model(&Suite{}).Where("parent_id = ?", a.ID)
			w.must(q.Update("name", "c").Error)
			w.suite(a, "d")
			w.must(q.Update("note", "n").Error)
			var n int64
			w.must(w.db.Model(&Suite{}).Where("note = 'n' AND plan_id = ?", w.root.PlanID).Count(&n).Error)
			if n != 2 {
				w.Errorf("the second update hit %d rows", n)
			}
			q = w.db.Where("parent_id = ?", a.ID)
			w.must(q.Delete(&Suite{}).Error)
			w.suite(a, "e")
			w.must(q.Delete(&Suite{}).Error)
			w.has("/a")
		}},
	}
}

// checkReplace replaces associations, of which GORM lets the old rows go only once the new ones are
// saved: what is refused leaves nothing behind, and in a transaction what is right takes place.
func checkReplace(t *testing.T, d Database) {
	w := newWorld(t, d, settings{})
	plantPages(w)
	x := w.tableOf(shape{model: Page{}})
	blocks := func() (names []string) {
		w.must(w.db.Model(&Block{}).Where("page_id = ?", w.ids["/a/b"]).Order("name").Pluck("name", &names).Error)
		return names
	}
	before := w.rowsOf(x)
	for _, full := range []bool{false, true} {
		db := w.db.Session(&gorm.Session{FullSaveAssociations: full})
		w.fails(db.Model(w.page("/a/b")).Association("Blocks").Replace(&Block{Name: "q"}), gormplugin.ErrUnsupported)
	}
	w.fails(w.db.Model(w.page("/a")).Association("Children").Replace(&Page{Place: named("q")}), gormplugin.ErrUnsupported)
	w.fails(w.db.Transaction(func(tx *gorm.DB) error {
		return tx.Model(w.page("/a/b")).Association("Blocks").Replace(&Block{Name: "q"})
	}), gormplugin.ErrMisplaced)
	if now := w.rowsOf(x); now != before || !slices.Equal(blocks(), []string{"t"}) {
		t.Errorf("blocks %q, and of the pages:\n%s", blocks(), difference(before, now))
	}
	w.must(w.db.Model(w.page("/a/b")).Association("Blocks").Append(&Block{Name: "q"}))
	w.must(w.db.Transaction(func(tx *gorm.DB) error {
		return tx.Model(w.page("/a/b")).Association("Blocks").Unscoped().Replace(&Block{Name: "r"})
	}))
	if got := blocks(); !slices.Equal(got, []string{"r"}) {
		t.Errorf("the blocks are %q", got)
	}
}

// checkShared has several handlers update rows by the same values, as they may without the plugin.
// It is the race detector that sees the plugin write to these.
func checkShared(t *testing.T, d Database) {
	w := newWorld(t, d, settings{})
	plantPages(w)
	gone, patch := map[string]any{"meta": `{"a":"b"}`}, &Page{Meta: map[string]string{"a": "b"}, Children: []Page{}}
	var all sync.WaitGroup
	for _, path := range []string{"/a", "/a/b", "/d"} {
		all.Go(func() {
			for range 20 {
				at := w.db.Model(&Page{}).Where("id = ?", w.ids[path])
				w.isA(at.Session(&gorm.Session{}).Updates(gone).Error, nil)
				w.isA(at.Session(&gorm.Session{}).Updates(patch).Error, nil)
			}
		})
	}
	all.Wait()
}

// checkSharedTransaction has goroutines write in one transaction, which neither path locks nor row
// locks keep apart.
func checkSharedTransaction(t *testing.T, d Database) {
	w := newWorld(t, d, settings{})
	a, b := w.build("/a"), w.build("/a/b")
	w.must(w.db.Transaction(func(tx *gorm.DB) error {
		var all sync.WaitGroup
		for i := range 10 {
			for _, write := range []func(name string) error{
				func(name string) error { return gormplugin.Rename(tx, &Suite{}, a.ID, name) },
				func(name string) error { return tx.Create(&Suite{ParentID: &b.ID, Name: name}).Error },
				func(name string) error { return tx.Create(&Case{SuiteID: b.ID, Name: name}).Error },
				func(name string) error {
					_, err := gormplugin.Copy(tx, &Suite{}, b.ID, gormplugin.Below(a.ID), gormplugin.CopyAs(name))
					return err
				},
			} {
				all.Go(func() { w.isA(write(fmt.Sprint("n", i)), nil) })
			}
		}
		all.Wait()
		return nil
	}))
}
