package integration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	_ "github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/gormlite"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Directory is a row of a tree.
type Directory struct {
	ID       int64
	DriveID  string `pathlock:"tree" gorm:"index:path,priority:1;uniqueIndex:sibling"`
	ParentID *int64 `pathlock:"parent" gorm:"uniqueIndex:sibling"`
	Name     string `pathlock:"name" gorm:"size:255;uniqueIndex:sibling"`
	Path     string `pathlock:"path" gorm:"size:766;index:path,priority:2"`
}

// Verify says at start what a table made by hand lacks, with the statements that mend it.
func Example_verify() {
	folder, err := os.MkdirTemp("", "pathlock")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()
	dsn := "file:" + filepath.Join(folder, "drive.db") + "?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)"
	db, err := gorm.Open(gormlite.Open(dsn), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		fmt.Println(err)
		return
	}
	if pool, err := db.DB(); err == nil {
		defer func() { _ = pool.Close() }()
	}
	err = db.Exec(`CREATE TABLE directories (id INTEGER PRIMARY KEY, drive_id TEXT NOT NULL, parent_id INTEGER, name TEXT NOT NULL, path TEXT NOT NULL,
		UNIQUE (drive_id, parent_id, name))`).Error
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := db.Use(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Directory{}))); err != nil {
		fmt.Println(err)
		return
	}

	var lacks *gormplugin.SchemaError
	if !errors.As(gormplugin.Verify(db), &lacks) {
		return
	}
	for _, finding := range lacks.Findings {
		fmt.Printf("%s, %s: %s\n", finding.Table, finding.Severity, finding.Missing)
		for _, statement := range finding.Statements {
			fmt.Println("   ", statement)
			if err := db.Exec(statement).Error; err != nil {
				fmt.Println(err)
			}
		}
	}
	fmt.Println("then:", gormplugin.Verify(db))

	// Output:
	// directories, unsafe: no unique index keeps apart live rows whose parent_id is NULL
	//     CREATE UNIQUE INDEX "directories_top" ON "directories" ("drive_id", "name") WHERE ("parent_id" IS NULL OR "parent_id" = 0)
	// directories, warning: no index begins with drive_id, path
	//     CREATE UNIQUE INDEX "directories_path" ON "directories" ("drive_id", "path")
	// then: <nil>
}

// The plugin alone, in a job: no request took locks before, so the plugin takes them itself.
func Example_gormplugin() {
	folder, err := os.MkdirTemp("", "pathlock")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()
	dsn := "file:" + filepath.Join(folder, "drive.db") + "?_txlock=immediate&_pragma=busy_timeout(5000)"
	db, err := gorm.Open(gormlite.Open(dsn), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		fmt.Println(err)
		return
	}
	if pool, err := db.DB(); err == nil {
		defer func() { _ = pool.Close() }()
	}
	locker := pathlock.New(memstore.New())
	if err := db.Use(gormplugin.New(locker, gormplugin.Model(&Directory{}, gormplugin.Namespace("drive")))); err != nil {
		fmt.Println(err)
		return
	}
	if err := gormplugin.AutoMigrate(db); err != nil {
		fmt.Println(err)
		return
	}

	err = gormplugin.Transaction(context.Background(), db, func(tx *gorm.DB) error {
		root := &Directory{DriveID: "home"}
		if err := tx.Create(root).Error; err != nil {
			return err
		}
		photos := &Directory{ParentID: &root.ID, Name: "photos"}
		if err := tx.Create(photos).Error; err != nil {
			return err
		}
		if err := tx.Create(&Directory{ParentID: &photos.ID, Name: "2024"}).Error; err != nil {
			return err
		}
		return tx.Model(photos).Update("name", "pictures").Error
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	var paths []string
	db.Model(&Directory{}).Order("path").Pluck("path", &paths)
	fmt.Printf("%q\n", paths)

	var pictures Directory
	db.Where("path = ?", "/pictures").Take(&pictures)
	err = db.Create(&Directory{ParentID: &pictures.ID, Name: "2024"}).Error
	fmt.Println(errors.Is(err, gormplugin.ErrNameTaken))

	// Output:
	// ["" "/pictures" "/pictures/2024"]
	// true
}
