package gormplugintest

import (
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
)

// SoftDeleted is a way to mark deleted rows, of which there are more than GORM's own.
type SoftDeleted struct {
	Name string
	// Model has the fields ID, Tree, Parent, Name and Path of integers and texts, with the tags of
	// the plugin, and the mark.
	Model any
	// Live is the condition on rows that are not deleted, and Mark the column that it is about.
	Live, Mark string
	// Restored is what the mark is set to in order to bring a row back, and Gone a value that would
	// delete it. A Restored that Live is not true of is written as what Live says.
	Restored, Gone any
}

// RunSoftDeleted deletes and restores rows that are marked in each of the ways.
func RunSoftDeleted(t *testing.T, d Database, ways []SoftDeleted) {
	t.Helper()
	for _, way := range ways {
		t.Run(way.Name, func(t *testing.T) {
			k := newKeyed(t, d, way.Model)
			k.live = way.Live
			k.must(k.db.Create(k.row(1, 7, nil, "a")).Error)
			k.must(k.db.Create(k.rows(k.row(2, nil, 1, "b"), k.row(3, nil, 2, "c"), k.row(4, 7, nil, "d"))).Error)
			k.must(k.db.Delete(k.row(2, nil, nil, "")).Error)
			k.has("/a /d")
			k.must(k.db.Create(k.row(5, nil, 1, "b")).Error)
			k.has("/a /a/b /d")
			if err := k.db.Create(k.row(6, nil, 2, "x")).Error; !errors.Is(err, pathlock.ErrNotFound) {
				t.Errorf("below a deleted row: %v", err)
			}
			if err := k.db.Model(k.row(1, nil, nil, "")).Update(way.Mark, way.Gone).Error; !errors.Is(err, gormplugin.ErrUnsupported) {
				t.Errorf("the mark, set by hand: %v", err)
			}
			k.must(k.db.Model(k.row(1, nil, nil, "")).Update(way.Mark, way.Restored).Error)
			k.has("/a /a/b /d")
			if err := k.db.Model(k.row(1, nil, nil, "")).Save(k.row(1, 7, nil, "a")).Error; err != nil {
				t.Errorf("a Save of a live row: %v", err)
			}
			k.must(k.db.Model(k.row(1, nil, nil, "")).Update("name", "x").Error)
			k.has("/d /x /x/b")
			k.must(k.db.Unscoped().Model(k.new()).Where("id IN ?", []int{2, 3}).Updates(map[string]any{way.Mark: way.Restored, "parent": 4}).Error)
			k.has("/d /d/b /d/c /x /x/b")
			k.must(k.db.Unscoped().Delete(k.row(4, nil, nil, "")).Error)
			k.has("/x /x/b")
			k.must(k.db.Where("name = ?", "x").Delete(k.new()).Error)
			k.has("")
			k.must(k.db.Unscoped().Model(k.new()).Where("id IN ?", []int{1, 5}).Update(way.Mark, way.Restored).Error)
			k.has("/x /x/b")
		})
	}
}
