package integration

import (
	"errors"
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

// Photo is a leaf: it lies in a directory.
type Photo struct {
	ID          int64
	DirectoryID int64  `pathlock:"parent" gorm:"uniqueIndex:photo_sibling"`
	Name        string `pathlock:"name" gorm:"size:255;uniqueIndex:photo_sibling"`
}

// openDrive opens a database with a drive of directories: /photos/2024/june with one photo, and
// /archive.
func openDrive() (db *gorm.DB, photos, archive *Directory, closeDrive func(), err error) {
	folder, err := os.MkdirTemp("", "pathlock")
	if err != nil {
		return nil, nil, nil, nil, err
	}
	dsn := "file:" + filepath.Join(folder, "drive.db") + "?_txlock=immediate&_pragma=busy_timeout(5000)"
	if db, err = gorm.Open(gormlite.Open(dsn), &gorm.Config{Logger: logger.Discard}); err != nil {
		return nil, nil, nil, nil, errors.Join(err, os.RemoveAll(folder))
	}
	closeDrive = func() {
		if pool, err := db.DB(); err == nil {
			_ = pool.Close()
		}
		_ = os.RemoveAll(folder)
	}
	plugin := gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Directory{}), gormplugin.Leaf(&Photo{}, &Directory{}))
	root := &Directory{DriveID: "home"}
	err = errors.Join(db.AutoMigrate(&Directory{}, &Photo{}), db.Use(plugin), db.Create(root).Error)
	below := func(parent *Directory, name string) *Directory {
		d := &Directory{ParentID: &parent.ID, Name: name}
		err = errors.Join(err, db.Create(d).Error)
		return d
	}
	photos, archive = below(root, "photos"), below(root, "archive")
	june := below(below(photos, "2024"), "june")
	err = errors.Join(err, db.Create(&Photo{DirectoryID: june.ID, Name: "beach.jpg"}).Error)
	return db, photos, archive, closeDrive, err
}

// printPaths prints the paths of the directories that a query finds.
func printPaths(query *gorm.DB) {
	var paths []string
	if err := query.Order("path").Pluck("path", &paths).Error; err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q\n", paths)
}

// A subtree is renamed and moved, in one statement each, with all that is in it.
func Example_renameAndMove() {
	db, photos, archive, closeDrive, err := openDrive()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer closeDrive()

	if err := gormplugin.Rename(db, &Directory{}, photos.ID, "pictures"); err != nil {
		fmt.Println(err)
	}
	if err := gormplugin.Move(db, &Directory{}, photos.ID, archive.ID); err != nil {
		fmt.Println(err)
	}
	printPaths(gormplugin.Subtree(db, &Directory{}, archive.ID))

	err = gormplugin.Move(db, &Directory{}, archive.ID, photos.ID)
	fmt.Println("into its own subtree:", errors.Is(err, gormplugin.ErrWouldCycle))
	// Output:
	// ["/archive" "/archive/pictures" "/archive/pictures/2024" "/archive/pictures/2024/june"]
	// into its own subtree: true
}

// A subtree is copied with its leaves, however many they are, in a handful of statements.
func Example_copy() {
	db, photos, archive, closeDrive, err := openDrive()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer closeDrive()

	var top Directory
	rows, err := gormplugin.Copy(db, &top, photos.ID, archive.ID, gormplugin.CopyAs("backup"), gormplugin.CopyLeaves(&Photo{}, nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rows, "directories, at", top.Path)
	printPaths(gormplugin.Subtree(db, &Directory{}, top.ID))

	var names []string
	err = gormplugin.Leaves(db, &Photo{}, top.ID).Pluck("name", &names).Error
	fmt.Println(names, err)
	// Output:
	// 3 directories, at /archive/backup
	// ["/archive/backup" "/archive/backup/2024" "/archive/backup/2024/june"]
	// [beach.jpg] <nil>
}

// What hangs on the rows in tables that the plugin does not know is copied by the caller, who gets
// a query for which row is the copy of which.
func Example_copyAttached() {
	db, photos, archive, closeDrive, err := openDrive()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer closeDrive()
	err = errors.Join(
		db.Exec("CREATE TABLE labels (directory_id INTEGER, text TEXT)").Error,
		db.Exec("INSERT INTO labels VALUES (?, 'family')", photos.ID).Error,
	)
	if err != nil {
		fmt.Println(err)
		return
	}

	_, err = gormplugin.Copy(db, &Directory{}, photos.ID, archive.ID, gormplugin.CopyAttached(func(tx, pairs *gorm.DB) error {
		return tx.Exec(`INSERT INTO labels (directory_id, text)
			SELECT m.new_id, l.text FROM labels l JOIN (?) m ON m.old_id = l.directory_id`, pairs).Error
	}))
	var labels int64
	db.Table("labels").Count(&labels)
	fmt.Println(labels, err)
	// Output: 2 <nil>
}

// Queries go on from what is below, above or at a place.
func Example_treeQueries() {
	db, photos, _, closeDrive, err := openDrive()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer closeDrive()

	var june Directory
	err = gormplugin.At(db, &Directory{}, "home", pathlock.MustParsePath("/photos/2024/june")).Take(&june).Error
	if err != nil {
		fmt.Println(err)
		return
	}
	printPaths(gormplugin.Ancestors(db, &Directory{}, june.ID))
	printPaths(gormplugin.Children(db, &Directory{}, photos.ID))

	rows, err := gormplugin.Delete(db, &Directory{}, photos.ID)
	fmt.Println(rows, "deleted", err)
	_, err = gormplugin.Resolve(db, &Directory{}, june.ID)
	fmt.Println("gone:", errors.Is(err, pathlock.ErrNotFound))
	// Output:
	// ["" "/photos" "/photos/2024"]
	// ["/photos/2024"]
	// 3 deleted <nil>
	// gone: true
}
