package gormplugintest

import (
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// queryChecks are about what queries find beside what the state machine looks up.
func queryChecks() []check {
	return []check{
		{"a row that moves before the query finds nothing, never the rows of another", func(w *world) {
			w.build("/a/old")
			query := gormplugin.Subtree(w.db, &Suite{}, w.build("/a").ID)
			leaves := gormplugin.Leaves(w.db, &Case{}, w.build("/a").ID)
			w.must(gormplugin.Rename(w.db, &Suite{}, w.build("/a").ID, "b"))
			other := w.build("/a/new")
			w.must(w.db.Create(&Case{SuiteID: other.ID, Name: "t"}).Error)
			w.hits(query.Find(&[]Suite{}), 0)
			w.hits(leaves.Find(&[]Case{}), 0)
		}},
		{"the row at a path", func(w *world) {
			b := w.build("/a/b")
			w.must(w.db.Create(&Case{SuiteID: b.ID, Name: "t"}).Error)
			at := func(model any, path string) *gorm.DB {
				return gormplugin.At(w.db, model, w.root.PlanID, pathlock.MustParsePath(path))
			}
			w.hits(at(&Case{}, "/a/b/t").Find(&Case{}), 1)
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
