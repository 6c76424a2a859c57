package fsck_test

import (
	"context"
	"fmt"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Directory is a row of a tree.
type Directory struct {
	ID       int64
	DriveID  string `pathlock:"tree" gorm:"size:64;index:path,priority:1;uniqueIndex:sibling"`
	ParentID *int64 `pathlock:"parent" gorm:"uniqueIndex:sibling"`
	Name     string `pathlock:"name" gorm:"size:255;uniqueIndex:sibling"`
	Path     string `pathlock:"path" gorm:"size:700;index:path,priority:2"`
}

// openDrive opens a database with a drive of two directories, whose paths were swapped by raw SQL.
func openDrive(ctx context.Context, locker *pathlock.Locker) (*gorm.DB, func(), error) {
	dsn, drop, err := testserver.ScratchMySQL(ctx)
	if err != nil {
		return nil, nil, err
	}
	db, err := gorm.Open(mysql.Open(dsn), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		return nil, drop, err
	}
	if err := db.Use(gormplugin.New(locker, gormplugin.Model(&Directory{}))); err != nil {
		return nil, drop, err
	}
	if err := gormplugin.AutoMigrate(db); err != nil {
		return nil, drop, err
	}
	if err := db.Create([]*Directory{{DriveID: "home", Name: "photos"}, {DriveID: "home", Name: "videos"}}).Error; err != nil {
		return nil, drop, err
	}
	swap := `UPDATE directories SET path = CASE name WHEN 'photos' THEN '/videos' ELSE '/photos' END`
	return db, func() {
		if pool, err := db.DB(); err == nil {
			_ = pool.Close()
		}
		drop()
	}, gormplugin.AllowRawWrites(db).Exec(swap).Error
}

// The tags of a model that is registered with the plugin name the columns.
func ExampleNew() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New())
	db, drop, err := openDrive(ctx, locker)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer drop()

	table, err := gormplugin.Describe(db, &Directory{})
	if err != nil {
		fmt.Println(err)
		return
	}
	pool, err := db.DB()
	if err != nil {
		fmt.Println(err)
		return
	}
	checker, err := fsck.New(ctx, pool, fsck.Dialect(db.Name()), table)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(table.Table, table.Tree, table.Parent, table.Name, table.Path)
	outcome, err := checker.Repair(ctx, fsck.RepairOptions{
		Apply:  true,
		Locker: locker,
		Changed: func(c fsck.Change) error {
			fmt.Printf("row %v: %s %v -> %v\n", c.ID, c.Column, c.Old, c.New)
			return nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(outcome.After.Total(), "problems left")
	// Output:
	// directories drive_id parent_id name path
	// row 1: path /videos -> /photos
	// row 2: path /photos -> /videos
	// 0 problems left
}
