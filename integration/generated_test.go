package integration

import (
	"testing"

	"github.com/ncruces/go-sqlite3/gormlite"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// measured is a tree with a column that the database computes from the path.
type measured struct {
	ID       int64
	TreeID   int64  `pathlock:"tree"`
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name" gorm:"size:100"`
	Path     string `pathlock:"path" gorm:"size:500"`
	Length   int    `gorm:"->;type:bigint GENERATED ALWAYS AS (length(path)) STORED;default:(-)"`
}

// computed is a table beside, whose model states another type than that of the generated column.
type computed struct {
	ID     int64
	Name   string `gorm:"size:100"`
	Length int64  `gorm:"->"`
}

// AutoMigrate makes a table whose model reads a generated column over the path, which PostgreSQL
// lets nobody change afterwards. It leaves such a column of another model's table as it is.
func TestAutoMigrateGeneratedColumns(t *testing.T) {
	t.Parallel()
	migrates := func(t *testing.T, dialector gorm.Dialector) {
		t.Helper()
		db, err := gorm.Open(dialector, &gorm.Config{Logger: logger.Discard})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Use(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&measured{}))); err != nil {
			t.Fatal(err)
		}
		runAll(t, db, "CREATE TABLE computeds (id BIGINT PRIMARY KEY, name VARCHAR(100), length INT GENERATED ALWAYS AS (length(name)) STORED)")
		for range 2 {
			if err := gormplugin.AutoMigrate(db, &computed{}); err != nil {
				t.Fatal(err)
			}
			finds(t, db)
		}
		row := &measured{TreeID: 1, Name: "abc"}
		if err := db.Create(row).Error; err != nil {
			t.Fatal(err)
		}
		if err := db.Take(row, row.ID).Error; err != nil || row.Length != 4 {
			t.Errorf("the length of %q is %d (%v)", row.Path, row.Length, err)
		}
	}
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		migrates(t, mysql.New(mysql.Config{Conn: poolOf(t, mysqlDatabase(t, server))}))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		d := postgresDatabase(t, wordOrder, nil)
		migrates(t, d.Dialector(poolOf(t, d.Connector)))
	})
	t.Run("SQLite", func(t *testing.T) {
		migrates(t, gormlite.OpenDB(poolOf(t, connectorTo(t, "&_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)"))))
	})
}
