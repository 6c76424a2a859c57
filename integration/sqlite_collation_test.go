package integration

import (
	"errors"
	"testing"

	"github.com/ncruces/go-sqlite3/gormlite"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/gormplugintest"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Whatever the collation of a column of SQLite, which cannot be changed, the indexes keep apart
// what the plugin keeps apart: names that are the same, byte by byte.
func TestSQLiteIndexesGoByBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, column, one, another string }{
		{"without regard to case", "TEXT NOT NULL COLLATE NOCASE", "a", "A"},
		{"without regard to spaces at the end", "TEXT NOT NULL COLLATE RTRIM", "a", "a "},
		{"a type that is none of texts", "STRING NOT NULL COLLATE NOCASE", "a", "A"},
		{"by bytes", "TEXT NOT NULL", "a", "A"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db, err := gorm.Open(gormlite.Open(fileName(t, "&_txlock=immediate")), &gorm.Config{Logger: logger.Discard})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if pool, err := db.DB(); err == nil {
					_ = pool.Close()
				}
			})
			if err := db.Use(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&gormplugintest.Branch{}))); err != nil {
				t.Fatal(err)
			}
			insert := func(parent, name string) error {
				return gormplugin.AllowRawWrites(db).Exec("INSERT INTO branches (tree_id, parent_id, name, path) VALUES (1, "+parent+", ?, ?)", name, "/"+parent+"/"+name).Error
			}
			runAll(t, db, "CREATE TABLE branches (id INTEGER PRIMARY KEY, tree_id INT NOT NULL, parent_id INT, name "+c.column+", path TEXT NOT NULL, note TEXT, deleted DATETIME)")
			for _, parent := range []string{"NULL", "1"} {
				if err := errors.Join(insert(parent, c.one), insert(parent, c.another)); err != nil {
					t.Fatal(err)
				}
			}
			var left *gormplugin.SchemaError
			if err := gormplugin.AutoMigrate(db); err != nil && !errors.As(err, &left) {
				t.Fatal(err)
			}
			if err := gormplugin.Verify(db); errors.Is(err, gormplugin.ErrUnsafeSchema) {
				t.Error(err)
			}
			runAll(t, db, "DROP INDEX branches_path") // of paths, not of names
			for _, parent := range []string{"NULL", "1"} {
				if err := insert(parent, c.another); err == nil {
					t.Errorf("two rows called %q below %s", c.another, parent)
				}
				if err := insert(parent, c.another+c.another); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
