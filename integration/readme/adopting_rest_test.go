package readme

import (
	"errors"
	"path/filepath"
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/offstore"
)

// Page is the model of the adopted wiki, without the index that the advice is about.
type Page struct {
	ID       int64
	SpaceID  int64  `pathlock:"tree"`
	ParentID *int64 `gorm:"index" pathlock:"parent"`
	Name     string `gorm:"size:255" pathlock:"name"`
	Path     string `gorm:"size:700" pathlock:"path"`
}

// Attachment is a leaf of the wiki that keeps a path, as old code does.
type Attachment struct {
	ID     int64
	PageID int64  `pathlock:"parent"`
	Name   string `pathlock:"name"`
	Path   string
}

// After the advice of step 2 of docs/adopting.md, the wiki has one index over tree and path, and
// keeps it, once its tags name no other.
func TestTheAdviceOfAdopting(t *testing.T) {
	adopted := built(t, filepath.Join("adopting", "adopted"))
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		dsn := emptyDatabase(t, server.DSN)
		t.Run("the table", func(t *testing.T) { run(t, adopted, "--mysql", dsn) })
		db, err := gorm.Open(mysql.Open(dsn), &gorm.Config{Logger: logger.Discard})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if pool, err := db.DB(); err == nil {
				_ = pool.Close()
			}
		})
		for _, advice := range []string{
			"ALTER TABLE `pages` ADD UNIQUE KEY `pages_path2` (`space_id`, `path`)", "ALTER TABLE `pages` DROP INDEX `pages_path`",
		} {
			if err := db.Exec(advice).Error; err != nil {
				t.Fatal(err)
			}
		}
		plugin := gormplugin.New(pathlock.New(offstore.New()), gormplugin.Model(&Page{}))
		if err := errors.Join(db.Use(plugin), gormplugin.AutoMigrate(db), gormplugin.Verify(db)); err != nil {
			t.Error(err)
		}
		var indexes []string
		query := "SELECT DISTINCT index_name FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'pages' AND column_name = 'path'"
		if err := db.Raw(query).Scan(&indexes).Error; err != nil || len(indexes) != 1 || indexes[0] != "pages_path2" {
			t.Errorf("the indexes are %q, %v", indexes, err)
		}
	})
}

// A path that leaves keep in a column of their own is the program's to rewrite, as step 5 of
// docs/adopting.md says.
func TestThePathsOfLeavesAreTheProgramsToRewrite(t *testing.T) {
	db := open(t)
	plugin := gormplugin.New(pathlock.New(offstore.New()), gormplugin.Model(&Page{}), gormplugin.Leaf(&Attachment{}, &Page{}))
	if err := errors.Join(db.Use(plugin), gormplugin.AutoMigrate(db)); err != nil {
		t.Fatal(err)
	}
	page := Page{SpaceID: 1, Name: "a"}
	if err := db.Create(&page).Error; err != nil {
		t.Fatal(err)
	}
	leaf := Attachment{PageID: page.ID, Name: "x", Path: "/a/x"}
	if err := db.Create(&leaf).Error; err != nil {
		t.Fatal(err)
	}
	if err := gormplugin.Rename(db, &Page{}, page.ID, "b"); err != nil {
		t.Fatal(err)
	}
	if err := db.Take(&leaf).Error; err != nil || leaf.Path != "/a/x" {
		t.Errorf("after a rename alone, the leaf has the path %q, %v", leaf.Path, err)
	}
	err := gormplugin.Transaction(t.Context(), db, func(tx *gorm.DB) error {
		if err := gormplugin.Rename(tx, &page, page.ID, "c"); err != nil {
			return err
		}
		return tx.Model(&Attachment{}).Where("page_id = ?", page.ID).Update("path", gorm.Expr("? || '/' || name", page.Path)).Error
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Take(&leaf).Error; err != nil || leaf.Path != "/c/x" {
		t.Errorf("after a rename with the statement, the leaf has the path %q, %v", leaf.Path, err)
	}
}
