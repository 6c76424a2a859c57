package gormplugintest

import (
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// queryChecks are about what queries find beside what the state machine looks up.
func queryChecks() []check {
	return []check{
		{"a subtree whose columns are written", func(w *world) {
			w.build("/a/b")
			a := w.build("/a")
			w.build("/ab")
			w.must(gormplugin.Subtree(w.db, &Suite{}, a.ID).Update("note", "x").Error)
			w.wantPaths(w.db.Model(&Suite{}).Where("plan_id = ? AND note = 'x'", w.root.PlanID), "/a", "/a/b")
		}},
		{"a row that moves before the query finds nothing, never the rows of another", func(w *world) {
			w.build("/a/old")
			query := gormplugin.Subtree(w.db, &Suite{}, w.build("/a").ID)
			leaves := gormplugin.Leaves(w.db, &Case{}, w.build("/a").ID)
			w.must(gormplugin.Rename(w.db, &Suite{}, w.build("/a").ID, "b"))
			other := w.build("/a/new")
			w.must(w.db.Create(&Case{SuiteID: other.ID, Name: "t"}).Error)
			w.wantPaths(query)
			var found []Case
			w.must(leaves.Find(&found).Error)
			if len(found) != 0 {
				w.Errorf("found %v", found)
			}
		}},
		{"the row at a path", func(w *world) {
			b := w.build("/a/b")
			leaf := &Case{SuiteID: b.ID, Name: "t"}
			w.must(w.db.Create(leaf).Error)
			at := func(model any, path string) *gorm.DB {
				return gormplugin.At(w.db, model, w.root.PlanID, pathlock.MustParsePath(path))
			}
			var found Case
			w.must(at(&Case{}, "/a/b/t").Take(&found).Error)
			if found.ID != leaf.ID {
				w.Errorf("found %+v", found)
			}
			for _, path := range []string{"/a/B", "/a/b/t", "/a/b%", "/a/b "} {
				w.fails(at(&Suite{}, path).Take(&Suite{}).Error, gorm.ErrRecordNotFound)
			}
			w.fails(at(&Case{}, "/a/b/T").Take(&Case{}).Error, gorm.ErrRecordNotFound)
			w.fails(at(&Case{}, "/").Take(&Case{}).Error, pathlock.ErrInvalidPath)
			w.fails(gormplugin.Leaves(w.db, &Suite{}, b.ID).Find(&[]Suite{}).Error, gormplugin.ErrUnsupported)
			w.fails(gormplugin.Subtree(w.db, &Case{}, b.ID).Error, pathlock.ErrNotFound)
		}},
	}
}

// wantPaths checks the paths of the suites that a query finds.
func (w *world) wantPaths(query *gorm.DB, want ...string) {
	w.Helper()
	var paths []string
	w.must(query.Order("path").Pluck("path", &paths).Error)
	if got := strings.Join(paths, "|"); got != strings.Join(want, "|") {
		w.Errorf("found %s, want %s", got, strings.Join(want, "|"))
	}
}
