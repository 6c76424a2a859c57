package integration

import (
	"errors"
	"strings"
	"testing"

	"github.com/glebarez/sqlite"
	"github.com/ncruces/go-sqlite3/gormlite"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Named is a tree whose table's name says which database it is in.
type Named struct {
	ID       int64
	TreeID   int64  `pathlock:"tree"`
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name" gorm:"size:100"`
	Path     string `pathlock:"path" gorm:"size:500"`
	Note     string `gorm:"index:by_note"`
	Slug     string `gorm:"uniqueIndex"`
}

// TableName implements GORM's interface.
func (Named) TableName() string { return "main.Nodes" }

// A table whose name has its database in front is made, completed, and found as it should be.
func TestSQLiteNamedWithDatabase(t *testing.T) {
	t.Parallel()
	for name, dialector := range map[string]gorm.Dialector{"gormlite": gormlite.Open(fileName(t, "&_txlock=immediate")), "glebarez": sqlite.Open(fileName(t, ""))} {
		t.Run(name, func(t *testing.T) {
			db, err := gorm.Open(dialector, &gorm.Config{Logger: logger.Discard})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if pool, err := db.DB(); err == nil {
					_ = pool.Close()
				}
			})
			if err := db.Use(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Named{}))); err != nil {
				t.Fatal(err)
			}
			if err := db.Create(&Named{TreeID: 1, Name: "a"}).Error; err == nil || strings.Contains(err.Error(), "IMMEDIATE") || !strings.Contains(err.Error(), "no such table") {
				t.Errorf("without a table: %v", err)
			}
			for range 2 {
				if err := gormplugin.AutoMigrate(db); err != nil {
					t.Fatal(err)
				}
				if err := gormplugin.Verify(db); err != nil {
					t.Fatal(err)
				}
			}
			runAll(t, db, "DROP INDEX by_note", "ALTER TABLE main.Nodes DROP COLUMN note")
			if err := gormplugin.AutoMigrate(db); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(gormplugin.Verify(db), db.Create(&Named{TreeID: 1, Name: "a"}).Error); err != nil {
				t.Error(err)
			}
		})
	}
}
