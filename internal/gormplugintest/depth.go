package gormplugintest

import (
	"errors"
	"slices"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
)

// depthLimit is how deep the suites of these tests may lie.
const depthLimit = 4

// deepWrite is a write of a tree that has the paths /a/b/c/d and /x/y, a deleted row /old/er and,
// from the time before there was a limit, /1/2/3/4/5/6 and the deleted /1/2/3/4/gone.
type deepWrite struct {
	name string
	do   func(w *world) error
	// deep is how deep something would lie, 0 where nothing is too deep.
	deep int
	// want is a path that is there then.
	want string
}

func deepWrites() []deepWrite {
	id := func(w *world, path string) int64 { return w.build(path).ID }
	move := func(path, below string) func(*world) error {
		return func(w *world) error {
			return gormplugin.Move(w.db, &Suite{}, id(w, path), gormplugin.Below(id(w, below)))
		}
	}
	restore := func(name, below string) func(*world) error {
		return func(w *world) error {
			return w.db.Unscoped().Model(&Suite{}).Where("plan_id = ? AND name = ?", w.root.PlanID, name).
				Updates(map[string]any{"deleted": nil, "parent_id": id(w, below)}).Error
		}
	}
	return []deepWrite{
		{"a new row among others", func(w *world) error {
			x, d := id(w, "/x"), id(w, "/a/b/c/d")
			return w.db.Create([]*Suite{{ParentID: &x, Name: "new"}, {ParentID: &d, Name: "new"}}).Error
		}, 5, ""},
		{"a new leaf of the deepest row", func(w *world) error {
			return w.db.Create(&Case{SuiteID: id(w, "/a/b/c/d"), Name: "leaf"}).Error
		}, 0, "/a/b/c/d"},
		{"a move by Update", func(w *world) error {
			return w.db.Model(&Suite{ID: id(w, "/x")}).Update("parent_id", id(w, "/a/b/c")).Error
		}, 5, ""},
		{"a restored row that was too deep", restore("gone", "/1/2/3/4"), 5, ""},
		{"a restored row that was too deep, to the limit", restore("gone", "/1/2/3"), 0, "/1/2/3/gone"},
		{"a rename of what is too deep", func(w *world) error {
			return gormplugin.Rename(w.db, &Suite{}, id(w, "/1/2/3/4/5"), "z")
		}, 0, "/1/2/3/4/z/6"},
		{"a move up of what is too deep", move("/1/2/3/4/5", "/1/2/3"), 0, "/1/2/3/5/6"},
		{"a move aside of what is too deep", move("/1/2/3/4/5/6", "/1/2/3/4"), 0, "/1/2/3/4/6"},
		{"a move down of what is too deep", move("/1/2/3/4/5", "/1/2/3/4/other"), 6, ""},
	}
}

// checkDepths checks that no write puts a row deeper than [gormplugin.MaxDepth] says.
func checkDepths(t *testing.T, d Database) {
	for _, c := range deepWrites() {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, d, settings{})
			for _, path := range []string{"/a/b/c/d", "/x/y", "/1/2/3/4/5/6", "/1/2/3/4/other", "/old/er", "/1/2/3/4/gone"} {
				w.build(path)
			}
			var err error
			for _, path := range []string{"/old/er", "/1/2/3/4/gone"} {
				_, err = gormplugin.Delete(w.db, &Suite{}, w.build(path).ID)
				w.must(err)
			}
			before := w.paths()

			unlimited := w.db
			defer func() { w.db = unlimited }()
			w.db = open(t, d, settings{}, w.trace)
			w.must(w.db.Use(gormplugin.New(w.locker,
				gormplugin.Model(&Suite{}, gormplugin.Namespace(Namespace), gormplugin.MaxDepth(depthLimit)),
				gormplugin.Leaf(&Case{}, &Suite{}),
			)))
			err = c.do(w)
			if c.deep == 0 {
				w.must(err)
				var paths []string
				w.must(w.db.Model(&Suite{}).Where("plan_id = ?", w.root.PlanID).Pluck("path", &paths).Error)
				if !slices.Contains(paths, c.want) {
					t.Errorf("there is no %s among %q", c.want, paths)
				}
				return
			}
			var deep *gormplugin.TooDeepError
			if !errors.Is(err, gormplugin.ErrPathTooLong) || !errors.As(err, &deep) {
				t.Fatalf("got %v, want a TooDeepError", err)
			}
			if deep.Depth != c.deep || deep.Limit != depthLimit {
				t.Errorf("got %v, want the depth %d and the limit %d", err, c.deep, depthLimit)
			}
			if after := w.paths(); after != before {
				t.Errorf("there is %s, and there was %s", after, before)
			}
		})
	}
}
