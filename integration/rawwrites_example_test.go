package integration

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ncruces/go-sqlite3/gormlite"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Shelf is a row of a tree that has more than its place.
type Shelf struct {
	ID       int64
	StoreID  int64  `pathlock:"tree" gorm:"uniqueIndex:shelf_sibling;index:shelf_path,priority:1"`
	ParentID *int64 `pathlock:"parent" gorm:"uniqueIndex:shelf_sibling"`
	Name     string `pathlock:"name" gorm:"size:255;uniqueIndex:shelf_sibling"`
	Path     string `pathlock:"path" gorm:"size:766;index:shelf_path,priority:2"`
	Colour   string
}

// Raw SQL on a guarded table is refused, unless the caller says that it has seen to the tree.
func ExampleAllowRawWrites() {
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
	if err := db.AutoMigrate(&Shelf{}); err != nil {
		fmt.Println(err)
		return
	}
	if err := db.Use(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Shelf{}))); err != nil {
		fmt.Println(err)
		return
	}
	top := Shelf{StoreID: 1, Name: "left"}
	if err := db.Create(&top).Error; err != nil {
		fmt.Println(err)
		return
	}
	upper := Shelf{ParentID: &top.ID, Name: "upper"}
	if err := db.Create(&upper).Error; err != nil {
		fmt.Println(err)
		return
	}

	const paint = "UPDATE shelves SET colour = 'red' WHERE store_id = ? AND path >= ? AND path < ?"
	fmt.Println(db.Exec(paint, 1, "/left/", "/left0").Error)

	err = db.Transaction(func(tx *gorm.DB) error {
		at, err := gormplugin.LockSubtrees(tx, &Shelf{}, top.ID)
		if err != nil {
			return err
		}
		path := at[0].Path.Column()
		return gormplugin.AllowRawWrites(tx).Exec(paint, 1, path+"/", path+"0").Error
	})
	if err == nil {
		err = db.Take(&upper, upper.ID).Error
	}
	fmt.Println(upper.Path, upper.Colour, err)

	// Output:
	// gormplugin: unsupported write: shelves: a raw UPDATE would go past the plugin: write by the model, or use gormplugin.AllowRawWrites(tx) after gormplugin.LockSubtrees or gormplugin.Assert
	// /left/upper red <nil>
}
