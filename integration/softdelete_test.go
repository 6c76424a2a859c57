package integration

import (
	"errors"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/plugin/soft_delete"
)

// The ways in which gorm.io/plugin/soft_delete marks deleted rows.
type (
	bySecond struct {
		ID        int64
		Tree      int64                 `pathlock:"tree" gorm:"uniqueIndex:by_second"`
		Parent    *int64                `pathlock:"parent" gorm:"uniqueIndex:by_second"`
		Name      string                `pathlock:"name" gorm:"size:100;uniqueIndex:by_second"`
		Path      string                `pathlock:"path" gorm:"size:500"`
		DeletedAt soft_delete.DeletedAt `gorm:"uniqueIndex:by_second"`
	}

	byFlagAndTime struct {
		ID        int64
		Tree      int64  `pathlock:"tree"`
		Parent    *int64 `pathlock:"parent"`
		Name      string `pathlock:"name" gorm:"size:100"`
		Path      string `pathlock:"path" gorm:"size:500"`
		DeletedAt time.Time
		IsDeleted soft_delete.DeletedAt `gorm:"softDelete:flag,DeletedAtField:DeletedAt"`
	}
	bySecondOrNull struct {
		ID        int64
		Tree      int64                 `pathlock:"tree"`
		Parent    *int64                `pathlock:"parent"`
		Name      string                `pathlock:"name" gorm:"size:100"`
		Path      string                `pathlock:"path,form:parent:*/*/" gorm:"size:500"`
		DeletedAt soft_delete.DeletedAt `gorm:"default:null"`
	}
)

var softDeletes = []gormplugintest.SoftDeleted{
	{Name: "seconds", Model: bySecond{}, Live: "deleted_at = 0", Mark: "deleted_at", Restored: 0},
	{Name: "a flag and a time", Model: byFlagAndTime{}, Live: "is_deleted = 0", Mark: "is_deleted", Restored: 0, Gone: 1},
	{Name: "seconds or NULL", Model: bySecondOrNull{}, Live: "deleted_at IS NULL", Mark: "deleted_at", Gone: 1},
}

// NULL hides a row from GORM, where 0 is live, but does not mark it as deleted: fsck says so, too.
func TestSoftDeletedByNull(t *testing.T) {
	plugin := gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(byFlagAndTime{}))
	db := guardedBy(t, databases.SQLiteWith(t, ""), plugin, byFlagAndTime{})
	rows := []byFlagAndTime{{ID: 1, Tree: 1, Name: "a"}, {ID: 2, Parent: new(int64), Name: "b"}}
	*rows[1].Parent = 1
	err := errors.Join(db.Create(rows).Error, gormplugin.AllowRawWrites(db).Exec("UPDATE by_flag_and_times SET is_deleted = NULL WHERE id = 2").Error)
	if at, resolved := gormplugin.Resolve(db, byFlagAndTime{}, 2); err != nil || resolved != nil || at.Path.String() != "/a/b" {
		t.Errorf("%v: it is at %v, %v", err, at, resolved)
	}
	if found := db.Model(byFlagAndTime{}).Where("id > 1").Update("name", "x"); found.Error != nil || found.RowsAffected != 0 {
		t.Errorf("%v: %d rows that GORM hides were renamed", found.Error, found.RowsAffected)
	}
	testerr.None(t, db.Select("parent", "name").Create(&byFlagAndTime{Parent: new(int64(1)), Name: "c"}).Error)
	testerr.None(t, db.Take(&byFlagAndTime{}, "name = 'c'").Error) // no NULL was written
	testerr.None(t, db.Delete(&byFlagAndTime{ID: 1}).Error)
	testerr.Is(t, "below a deleted row", testerr.Of(gormplugin.Resolve(db, byFlagAndTime{}, 2)), pathlock.ErrNotFound)
}

// A root row's column holds what its children's do where it is the path of the parent.
func TestDelete_rootRowOfParentsPaths(t *testing.T) {
	plugin := gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(bySecondOrNull{}))
	db := guardedBy(t, databases.SQLiteWith(t, ""), plugin, bySecondOrNull{})
	testerr.None(t, db.Create([]bySecondOrNull{{ID: 1, Tree: 1}, {ID: 2, Tree: 1, Parent: new(int64(1)), Name: "a"}, {Tree: 1, Parent: new(int64(2)), Name: "b"}}).Error)
	if rows, err := gormplugin.Delete(db, &bySecondOrNull{}, 1); rows != 3 || err != nil {
		t.Errorf("%d rows were deleted, want 3: %v", rows, err)
	}
}

func TestSoftDeletePlugin(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) {
		gormplugintest.RunSoftDeleted(t, databases.SQLite(t), softDeletes)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		gormplugintest.RunSoftDeleted(t, databases.Postgres(t, databases.ByteOrder, nil), softDeletes)
	})
}
