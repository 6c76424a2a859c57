package gormplugintest

import (
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

func leafChecks() []check {
	return []check{
		{"the locks of a leaf's life", func(w *world) {
			a, b := w.build("/a"), w.build("/b")
			tx := w.db.Begin()
			defer tx.Rollback()
			leaf := &Case{SuiteID: a.ID, Name: "t"}
			w.must(tx.Create(leaf).Error)
			want := "X /a/t"
			for _, step := range []struct {
				assigned map[string]any
				lock     string
			}{
				{map[string]any{"name": "u"}, ", X /a/u"},
				{map[string]any{"suite_id": b.ID}, ", X /b/u"},
			} {
				if got := w.held(); got != want {
					w.Errorf("holds %s, want %s", got, want)
				}
				w.must(tx.Model(leaf).Updates(step.assigned).Error)
				want += step.lock
			}
			if got := w.held(); got != want {
				w.Errorf("holds %s, want %s", got, want)
			}
			w.must(tx.Delete(leaf).Error)
			w.must(tx.Commit().Error)
		}},
		{"a name that another leaf has", func(w *world) {
			a := w.build("/a")
			w.must(w.db.Create(&Case{SuiteID: a.ID, Name: "t"}).Error)
			err := w.db.Create(&Case{SuiteID: a.ID, Name: "t"}).Error
			w.fails(err, gormplugin.ErrNameTaken)
			w.wantTaken(err, "/a/t")
		}},
		{"below a suite that is deleted or not there", func(w *world) {
			a := w.build("/a")
			leaf := &Case{SuiteID: w.build("/b").ID, Name: "t"}
			w.must(w.db.Create(leaf).Error)
			w.must(w.db.Delete(a).Error)
			w.fails(w.db.Create(&Case{SuiteID: a.ID, Name: "t"}).Error, pathlock.ErrNotFound)
			w.fails(w.db.Model(leaf).Update("suite_id", a.ID).Error, pathlock.ErrNotFound)
			w.fails(w.db.Create(&Case{Name: "t"}).Error, gormplugin.ErrMisplaced)
		}},
		{"leaves of a deleted row are the caller's", func(w *world) {
			for what, remove := range map[string]func(*gorm.DB, *Suite) error{
				"softly":   func(db *gorm.DB, s *Suite) error { return db.Delete(s).Error },
				"for good": func(db *gorm.DB, s *Suite) error { return db.Unscoped().Delete(s).Error },
			} {
				a, b := w.build("/a"), w.build("/b")
				leaf := func(above *Suite, name string) *Case {
					c := &Case{SuiteID: above.ID, Name: name}
					w.must(w.db.Create(c).Error)
					return c
				}
				one, two, three, four, five := leaf(a, "1"), leaf(a, "2"), leaf(a, "3"), leaf(a, "4"), leaf(b, "5")
				w.must(remove(w.db, a))
				for _, run := range []func(*gorm.DB, func(*gorm.DB) error) error{
					func(db *gorm.DB, do func(*gorm.DB) error) error { return do(db) },
					func(db *gorm.DB, do func(*gorm.DB) error) error { return db.Transaction(do) },
				} {
					w.must(run(w.db, func(db *gorm.DB) error { return db.Model(one).Update("body", "edited").Error }))
					w.must(run(w.db, func(db *gorm.DB) error {
						saved := *two
						saved.Body = "saved"
						return db.Save(&saved).Error
					}))
					w.must(run(w.db, func(db *gorm.DB) error {
						return db.Model(&Case{}).Where("id IN ?", []int64{one.ID, five.ID}).Updates(map[string]any{"body": "both"}).Error
					}))
					for refused, err := range map[string]error{
						"a rename":        run(w.db, func(db *gorm.DB) error { return db.Model(one).Update("name", "x").Error }),
						"Rename":          run(w.db, func(db *gorm.DB) error { return gormplugin.Rename(db, &Case{}, one.ID, "x") }),
						"a move":          run(w.db, func(db *gorm.DB) error { return db.Model(&Case{ID: one.ID}).Update("suite_id", b.ID).Error }),
						"a move below it": run(w.db, func(db *gorm.DB) error { return db.Model(&Case{ID: five.ID}).Update("suite_id", a.ID).Error }),
					} {
						if !isA(err, pathlock.ErrNotFound) {
							w.Errorf("%s, parent deleted %s: %v", refused, what, err)
						}
					}
				}
				w.must(w.db.Delete(one).Error)
				w.must(w.db.Transaction(func(tx *gorm.DB) error { return tx.Delete(&Case{}, two.ID).Error }))
				if n, err := gormplugin.Delete(w.db, &Case{}, three.ID); n != 1 || err != nil {
					w.Errorf("Delete: %d, %v", n, err)
				}
				result := w.db.Where("id IN ?", []int64{four.ID, five.ID}).Delete(&Case{})
				if result.RowsAffected != 2 || result.Error != nil {
					w.Errorf("a deletion of leaves here and there: %d, %v", result.RowsAffected, result.Error)
				}
				var left int64
				w.must(w.db.Model(&Case{}).Where("suite_id IN ?", []int64{a.ID, b.ID}).Count(&left).Error)
				if left != 0 {
					w.Errorf("parent deleted %s: %d leaves are left", what, left)
				}
			}
		}},
		{"many at once", func(w *world) {
			a, b := w.build("/a"), w.build("/b")
			var batch []*Case
			for i := range 300 {
				batch = append(batch, &Case{SuiteID: a.ID, Name: fmt.Sprint(i)})
			}
			w.must(w.db.Create(batch).Error)
			w.must(w.db.Model(&Case{}).Where("suite_id = ?", a.ID).Update("suite_id", b.ID).Error)
			var n int64
			w.must(w.db.Model(&Case{}).Where("suite_id = ?", b.ID).Count(&n).Error)
			if n != 300 {
				w.Errorf("%d leaves moved", n)
			}
			w.must(w.db.Where("suite_id = ?", b.ID).Delete(&Case{}).Error)
		}},
		{"a body is written without a lock", func(w *world) {
			leaf := &Case{SuiteID: w.build("/a").ID, Name: "t"}
			w.must(w.db.Create(leaf).Error)
			defer w.holding("/")()
			w.must(w.db.Model(leaf).Update("body", "x").Error)
			leaf.Body = "y"
			w.must(w.db.Save(leaf).Error)
		}},
		{"resolvers", func(w *world) {
			a := w.build("/a/b")
			leaf := &Case{SuiteID: a.ID, Name: "t"}
			w.must(w.db.Create(leaf).Error)
			ctx := w.Context()
			for _, c := range []struct {
				model any
				id    string
				want  string
				err   error
			}{
				{&Suite{}, fmt.Sprint(a.ID), "/a/b", nil},
				{&Suite{}, fmt.Sprint(w.root.ID), "/", nil},
				{&Case{}, fmt.Sprint(leaf.ID), "/a/b/t", nil},
				{&Suite{}, "0", "", pathlock.ErrNotFound},
				{&Suite{}, "-1", "", pathlock.ErrNotFound},
				{&Suite{}, "9223372036854775808", "", pathlock.ErrInvalidID},
				{&Suite{}, "x", "", pathlock.ErrInvalidID},
				{&Suite{}, "", "", pathlock.ErrInvalidID},
				{&Suite{}, "1 OR 1=1", "", pathlock.ErrInvalidID},
				{&Flagged{}, "-1", "", pathlock.ErrInvalidID},
				{&Folder{}, "", "", pathlock.ErrInvalidID},
				{&Folder{}, "\xff", "", pathlock.ErrInvalidID},
				{&Folder{}, "nobody", "", pathlock.ErrNotFound},
			} {
				location, err := w.plugin.Resolver(c.model).Resolve(ctx, c.id)
				switch {
				case !isA(err, c.err):
					w.Errorf("%T %q: error %v, want %v", c.model, c.id, err, c.err)
				case err != nil && strings.Contains(err.Error(), "strconv"):
					w.Errorf("%T %q: what clients read speaks of Go: %v", c.model, c.id, err)
				case err == nil && (location.Path.String() != c.want || location.Tree != w.tree()):
					w.Errorf("%T %q: %v, want %s", c.model, c.id, location, c.want)
				}
			}
			w.must(w.db.Delete(w.build("/a")).Error)
			for _, model := range []any{&Suite{}, &Case{}} {
				id := map[bool]int64{true: a.ID, false: leaf.ID}[fmt.Sprintf("%T", model) == "*gormplugintest.Suite"]
				if _, err := w.plugin.Resolver(model).Resolve(ctx, fmt.Sprint(id)); !isA(err, pathlock.ErrNotFound) {
					w.Errorf("%T below a deleted row: %v", model, err)
				}
			}
		}},
	}
}
