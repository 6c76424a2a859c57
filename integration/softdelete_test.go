package integration

import (
	"database/sql"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/gormlite"
	"github.com/pathlock-go/pathlock/internal/gormplugintest"
	"gorm.io/gorm"
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
		Path      string                `pathlock:"path" gorm:"size:500"`
		DeletedAt soft_delete.DeletedAt `gorm:"default:null"`
	}
)

var softDeletes = []gormplugintest.SoftDeleted{
	{Name: "seconds", Model: bySecond{}, Live: "deleted_at = 0", Mark: "deleted_at", Restored: 0},
	{Name: "a flag and a time", Model: byFlagAndTime{}, Live: "is_deleted = 0", Mark: "is_deleted", Restored: 0},
	{Name: "seconds or NULL", Model: bySecondOrNull{}, Live: "deleted_at IS NULL", Mark: "deleted_at"},
}

func TestSoftDeletePlugin(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) {
		gormplugintest.RunSoftDeleted(t, gormplugintest.Database{
			Connector: connectorTo(t, "&_txlock=immediate"),
			Dialector: func(pool *sql.DB) gorm.Dialector { return gormlite.OpenDB(pool) },
		}, softDeletes)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		gormplugintest.RunSoftDeleted(t, postgresDatabase(t, byteOrder, nil), softDeletes)
	})
}
