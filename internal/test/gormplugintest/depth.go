package gormplugintest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// depthLimit is how deep the suites of these tests may lie.
const depthLimit = 4

// checkDepths checks that no write puts a row deeper than [gormplugin.MaxDepth] says, nor gives a
// leaf a longer path than its column holds, where that of the row above fits. Rows that are too
// deep from before the limit may move up.
func checkDepths(t *testing.T, d Database) {
	w := newWorld(t, d, settings{})
	limited := machineWorld(t, d, settings{}, []gormplugin.Option{
		gormplugin.Model(&Suite{}, gormplugin.Namespace(Namespace), gormplugin.MaxDepth(depthLimit)), gormplugin.Leaf(&Case{}, &Suite{}, gormplugin.Columns{Path: "path_column"}),
	})
	old := w.build("/1/2/3/4/5/6")
	w.must(gormplugin.Move(limited.db, &Suite{}, *old.ParentID, gormplugin.Below(w.build("/1/2/3").ID)))
	deep, ok := errors.AsType[*gormplugin.TooDeepError](gormplugin.Move(limited.db, &Suite{}, w.build("/a").ID, gormplugin.Below(old.ID)))
	if !ok || deep.Depth != 6 || deep.Limit != depthLimit {
		t.Errorf("got %+v", deep)
	}
	w.has("/1", "/1/2", "/1/2/3", "/1/2/3/4", "/1/2/3/5", "/1/2/3/5/6", "/a")
	arrangeDeep(w, limited)
	arrangeAround(w, limited)
	checkUnsigned(t, d)
	checkLeafRoom(w)
	checkOutdatedDepth(w, limited)
}

// checkOutdatedDepth has another process move up a row that a request has found too deep for more
// below it.
func checkOutdatedDepth(w, limited *world) {
	deep := w.build("/k/l/m/n")
	resolver := limited.plugin.Resolver(&Suite{}).(preparer)
	ctx := resolver.Prepare(w.Context())
	_, err := resolver.Resolve(ctx, fmt.Sprint(deep.ID))
	w.must(err)
	w.must(gormplugin.Move(w.db, &Suite{}, deep.ID, gormplugin.Below(w.root.ID)))
	rows := []Suite{{ParentID: &deep.ID, Name: "a"}, {PlanID: w.root.PlanID, Path: "/k/b"}}
	w.must(limited.db.WithContext(ctx).Create(rows).Error)
}

// checkLeafRoom has a leaf's path become one that is longer than its column, by whatever write.
func checkLeafRoom(w *world) {
	long := strings.Repeat("x", 250)
	narrow, wide := w.build("/a"), w.build("/"+long)
	leaf := &Case{SuiteID: narrow.ID, Name: long}
	w.must(w.db.Create(leaf).Error)
	_, copied := gormplugin.Copy(w.db, &Suite{}, narrow.ID, gormplugin.Below(wide.ID), gormplugin.CopyLeaves(&Case{}, nil))
	w.fails(copied, gormplugin.ErrPathTooLong)
	w.fails(gormplugin.Rename(w.db, &Suite{}, narrow.ID, long[1:]), gormplugin.ErrPathTooLong)
	w.fails(gormplugin.Move(w.db, &Suite{}, narrow.ID, gormplugin.Below(wide.ID)), gormplugin.ErrPathTooLong)
	w.must(w.db.Delete(narrow).Error)
	w.fails(w.db.Unscoped().Model(narrow).Updates(map[string]any{"deleted": nil, "parent_id": wide.ID}).Error, gormplugin.ErrPathTooLong)
	w.must(w.db.Unscoped().Delete(narrow).Error)
	w.fails(w.db.Create(&Suite{ID: narrow.ID, ParentID: &wide.ID, Name: "a"}).Error, gormplugin.ErrPathTooLong)
	w.must(w.db.Create(&Suite{ID: narrow.ID, ParentID: &w.root.ID, Name: "b"}).Error)
	// One row is renamed in this tree, and in another one that row and the one above it.
	other := *w
	other.root = w.newPlan()
	below, above := w.build("/u/v"), other.build("/u")
	w.must(w.db.Create(&Case{SuiteID: below.ID, Name: strings.Repeat("y", 240)}).Error)
	w.must(w.db.Create(&Case{SuiteID: other.build("/u/v").ID, Name: strings.Repeat("z", 240)}).Error)
	ids := []int64{below.ID, above.ID, other.build("/u/v").ID}
	w.fails(w.db.Model(&Suite{}).Where("id IN ?", ids).Update("name", long[:200]).Error, gormplugin.ErrPathTooLong)
	w.must(w.db.Model(&Suite{}).Where("id IN ?", ids).Update("name", long[:120]).Error)
	other.sound()
}

// arrangeDeep has more rows leave a row that goes down than one statement measures below.
func arrangeDeep(w, limited *world) {
	q, x := w.build("/p/q"), w.build("/z/y/x")
	rows := []*Suite{{ID: q.ID, ParentID: &x.ID}}
	for i := range 150 {
		rows = append(rows, &Suite{ID: w.suite(q, fmt.Sprint("n", i)).ID, ParentID: &w.root.ID})
	}
	stays := w.suite(q, "stays")
	w.fails(gormplugin.Arrange(limited.db, rows), gormplugin.ErrPathTooLong)
	w.must(gormplugin.Arrange(limited.db, append(rows, &Suite{ID: stays.ID, ParentID: &w.root.ID})))
	w.sound()
}

// arrangeAround puts another row into the place of one that goes down. Below it, a subtree has the
// paths that it had before, which one statement measures together with the rows above, or without.
func arrangeAround(w, limited *world) {
	for _, others := range []int{0, 150} {
		tree := fmt.Sprint("tree", others)
		down, stays, leaf := w.build("/"+tree), w.build("/"+tree+"/stays"), &Case{SuiteID: w.build("/" + tree + "/stays/deep").ID, Name: strings.Repeat("x", 250)}
		above, comes := w.build("/"+leaf.Name+"/r"), w.build("/"+leaf.Name+"/r/"+tree)
		w.must(limited.db.Create(leaf).Error)
		rows := []*Suite{{ID: down.ID, ParentID: &above.ID}, {ID: comes.ID, ParentID: &w.root.ID}, {ID: stays.ID, ParentID: &comes.ID}}
		for i := range others {
			rows = append(rows, &Suite{ID: w.suite(down, fmt.Sprint("m", i)).ID, ParentID: &w.root.ID})
		}
		w.must(gormplugin.Arrange(limited.db, rows))
	}
	w.sound()
}

// unsigned has a depth that a root row, which lies above 0, cannot have.
type unsigned struct {
	ID     int64
	Tree   int64  `pathlock:"tree"`
	Parent *int64 `pathlock:"parent"`
	Name   string `pathlock:"name" gorm:"size:100"`
	Path   string `pathlock:"path" gorm:"size:500"`
	Level  uint   `pathlock:"depth,top:0"`
}

// checkUnsigned has a row refused whose depth the type of the column cannot hold.
func checkUnsigned(t *testing.T, d Database) {
	w := machineWorld(t, d, settings{}, []gormplugin.Option{gormplugin.Model(&unsigned{})})
	w.must(gormplugin.AutoMigrate(w.db.Set("gorm:table_options", d.TableOptions).Session(&gorm.Session{})))
	w.fails(w.db.Create(&unsigned{Tree: 1}).Error, gormplugin.ErrUnsupported)
	w.fails(w.db.Model(&unsigned{}).Create(map[string]any{"id": 7, "tree": 1, "name": ""}).Error, gormplugin.ErrUnsupported)
	w.must(w.db.Create(&unsigned{Tree: 1, Name: "a"}).Error)
}
