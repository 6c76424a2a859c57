package gormplugintest

import (
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
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
			w.fails(w.db.Create(&Case{Name: "t"}).Error, gormplugin.ErrUnsupported)
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
