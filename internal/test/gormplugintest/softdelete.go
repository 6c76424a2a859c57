package gormplugintest

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
)

// flagged, stamped and filed are trees whose rows are marked as deleted by plain columns.
type (
	flagged struct {
		ID       int64
		PlanID   int64  `pathlock:"tree"`
		ParentID *int64 `pathlock:"parent"`
		Name     string `pathlock:"name" gorm:"size:100"`
		Path     string `pathlock:"path" gorm:"size:500"`
		Gone     int8   `pathlock:"deleted"`
		Note     string `gorm:"size:255"`
	}

	stamped struct {
		ID       int64
		PlanID   int64      `pathlock:"tree"`
		ParentID int64      `pathlock:"parent"`
		Name     string     `pathlock:"name" gorm:"size:100"`
		Path     string     `pathlock:"path" gorm:"size:500"`
		Removed  *time.Time `pathlock:"deleted"`
	}

	filed struct {
		ID       int64
		PlanID   int64  `pathlock:"tree"`
		ParentID *int64 `pathlock:"parent"`
		Name     string `pathlock:"name" gorm:"size:100"`
		Path     string `pathlock:"path" gorm:"size:500"`
		IDs      string `pathlock:"idpath" gorm:"column:ids;size:200"`
		Version  int64  `pathlock:"version"`
		Status   string `pathlock:"deleted,when:archived" gorm:"size:20;default:draft"`
		Note     string `gorm:"size:255"`
	}
)

// SoftDeleted is a way to mark deleted rows, of which there are more than GORM's own.
type SoftDeleted struct {
	Name string
	// Model has the fields ID, Tree, Parent, Name and Path of integers and texts, with the tags of
	// the plugin, and the mark.
	Model any
	// Live is the condition on rows that are not deleted, and Mark the column that it is about.
	Live, Mark string
	// Restored is what the mark is set to in order to bring a row back, and Gone to delete one.
	Restored, Gone any
}

// RunSoftDeleted runs the state machine on rows that are marked in each of the ways.
func RunSoftDeleted(t *testing.T, d Database, ways []SoftDeleted) {
	t.Helper()
	for _, way := range ways {
		t.Run(way.Name, func(t *testing.T) {
			integer := func() any { return rand.Int64N(1<<50) + 1 }
			runMachine(t, d, shape{
				name: way.Name, model: way.Model, tree: integer, given: true, room: 500, depth: 256,
				live: way.Live, mark: way.Mark, restored: way.Restored, gone: way.Gone, copies: true, keys: none, scarce: true,
			})
		})
	}
}

// checkDeletionTime has a row and those below it deleted at one time, however long that takes.
func checkDeletionTime(t *testing.T, d Database) {
	var now atomic.Int64
	w := newWorld(t, d, settings{config: gorm.Config{NowFunc: func() time.Time { return time.Unix(now.Add(1), 0) }}})
	w.build("/a/b/c")
	w.must(w.db.Delete(w.build("/a")).Error)
	var times []time.Time
	w.must(w.db.Unscoped().Model(&Suite{}).Where("plan_id = ? AND deleted IS NOT NULL", w.root.PlanID).Distinct("deleted").Pluck("deleted", &times).Error)
	if len(times) != 1 {
		t.Errorf("rows were deleted at %v", times)
	}
}

// lettered is a tree whose rows have the text "0" as long as they are live, as many schemas do.
type lettered struct {
	ID     int64
	Parent int64  `pathlock:"parent"`
	Name   string `pathlock:"name" gorm:"size:100"`
	Path   string `pathlock:"path" gorm:"size:500"`
	Gone   string `pathlock:"deleted" gorm:"size:1;not null;default:0"`
}

// checkTextMarks checks that "" and "0" mark live rows, which an index keeps apart whatever they
// have of the two, and that no text is written that a collation could hold equal to a mark.
func checkTextMarks(t *testing.T, d Database) {
	w := machineWorld(t, d, settings{}, []gormplugin.Option{gormplugin.Model(&lettered{}, gormplugin.SingleTree("letters")), gormplugin.Model(&filed{})})
	w.must(gormplugin.AutoMigrate(w.db))
	rows := []*lettered{{ID: 1, Name: "a"}, {ID: 2, Parent: 1, Name: "b", Gone: "0"}, {ID: 3, Parent: 2, Name: "c"}}
	w.must(w.db.Create(rows).Error)
	w.must(gormplugin.AllowRawWrites(w.db).Exec("UPDATE lettereds SET gone = '' WHERE id = 3").Error)
	live := func(want ...int64) {
		t.Helper()
		for _, r := range rows {
			_, err := gormplugin.Resolve(w.db, &lettered{}, r.ID)
			if want := slices.Contains(want, r.ID); want && err != nil || !want && !isA(err, pathlock.ErrNotFound) {
				t.Errorf("row %d: %v, live: %t", r.ID, err, want)
			}
		}
	}
	live(1, 2, 3)
	w.fails(w.db.Create(&lettered{ID: 4, Parent: 2, Name: "c"}).Error, gormplugin.ErrNameTaken)
	w.must(w.db.Model(&lettered{ID: 2}).Update("gone", "1").Error)
	live(1)
	w.must(w.db.Model(&lettered{ID: 2}).Update("gone", "0").Error)
	live(1, 2)
	w.must(w.db.Model(&lettered{}).Create(map[string]any{"id": 5, "parent": 1, "name": "e"}).Error)
	var marks []string
	w.must(w.db.Model(&lettered{}).Where("id IN (2, 5)").Pluck("gone", &marks).Error)
	if want := []string{"0", "0"}; !slices.Equal(marks, want) {
		t.Errorf("the marks are %q, want %q", marks, want)
	}
	for _, like := range []string{" ", "０", "\u00ad"} {
		w.fails(w.db.Model(&lettered{ID: 1}).Update("gone", like).Error, gormplugin.ErrUnsupported)
	}
	const plan = 1 << 40 // which the machine has not used
	one := &filed{PlanID: plan, Name: "a", Status: "草稿"}
	w.must(w.db.Create(one).Error)
	for _, like := range []string{"archivéd", "ARCHIVED", "archived ", "ａrchived", "arch\u00adived"} {
		w.fails(w.db.Model(&filed{ID: one.ID}).Update("status", like).Error, gormplugin.ErrUnsupported)
		w.fails(w.db.Create(&filed{PlanID: plan, Name: "b", Status: like}).Error, gormplugin.ErrUnsupported)
	}
	live(1, 2)
}
