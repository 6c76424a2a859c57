package gormplugintest

import (
	"math/rand/v2"
	"testing"
	"time"
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
