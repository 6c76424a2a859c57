package gormplugintest

import (
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
)

// depthLimit is how deep the suites of these tests may lie.
const depthLimit = 4

// checkDepths checks that no write puts a row deeper than [gormplugin.MaxDepth] says, in a tree
// that has deeper rows from the time before there was a limit.
func checkDepths(t *testing.T, d Database) {
	move := func(path, below string) func(w, limited *world) error {
		return func(w, limited *world) error {
			return gormplugin.Move(limited.db, &Suite{}, w.build(path).ID, gormplugin.Below(w.build(below).ID))
		}
	}
	restore := func(below string) func(w, limited *world) error {
		return func(w, limited *world) error {
			return limited.db.Unscoped().Model(&Suite{}).Where("plan_id = ? AND name = 'gone'", w.root.PlanID).
				Updates(map[string]any{"deleted": nil, "parent_id": w.build(below).ID}).Error
		}
	}
	for _, c := range []struct {
		name string
		do   func(w, limited *world) error
		// deep is how deep something would lie, 0 where nothing is too deep.
		deep int
	}{
		{"a new row", func(w, limited *world) error {
			return limited.db.Create(&Suite{ParentID: &w.build("/a/b/c/d").ID, Name: "new"}).Error
		}, 5},
		{"a new leaf of the deepest row", func(w, limited *world) error {
			return limited.db.Create(&Case{SuiteID: w.build("/a/b/c/d").ID, Name: "leaf"}).Error
		}, 0},
		{"a row with its child", move("/x", "/a/b/c"), 5},
		{"a restored row that was too deep", restore("/1/2/3/4"), 5},
		{"a restored row that was too deep, to the limit", restore("/1/2/3"), 0},
		{"a rename of what is too deep", func(w, limited *world) error {
			return gormplugin.Rename(limited.db, &Suite{}, w.build("/1/2/3/4/5").ID, "z")
		}, 0},
		{"up, of what is too deep", move("/1/2/3/4/5", "/1/2/3"), 0},
		{"aside, of what is too deep", move("/1/2/3/4/5/6", "/1/2/3/4"), 0},
		{"down, of what is too deep", move("/1/2/3/4/5", "/1/2/3/4/other"), 6},
		{"a copy", func(w, limited *world) error {
			_, err := gormplugin.Copy(limited.db, &Suite{}, w.build("/x/y").ID, gormplugin.Below(w.build("/a/b/c/d").ID))
			return err
		}, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, d, settings{})
			for _, path := range []string{"/a/b/c/d", "/x/y", "/1/2/3/4/5/6", "/1/2/3/4/other"} {
				w.build(path)
			}
			w.must(w.db.Delete(w.build("/1/2/3/4/gone")).Error)
			limited := machineWorld(t, d, settings{}, []gormplugin.Option{
				gormplugin.Model(&Suite{}, gormplugin.Namespace(Namespace), gormplugin.MaxDepth(depthLimit)), gormplugin.Leaf(&Case{}, &Suite{}),
			})
			before := w.state()
			err := c.do(w, limited)
			deep, isDeep := errors.AsType[*gormplugin.TooDeepError](err)
			if isDeep != (c.deep > 0) || isDeep && (deep.Depth != c.deep || deep.Limit != depthLimit || !errors.Is(err, gormplugin.ErrPathTooLong)) {
				t.Errorf("got %v, want the depth %d and the limit %d", err, c.deep, depthLimit)
			}
			if changed := w.state() != before; changed == isDeep {
				t.Errorf("changed: %t, the error %v", changed, err)
			}
		})
	}
}
