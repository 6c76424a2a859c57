package fsck_test

import (
	"context"
	"errors"
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

// withDrive runs an example on a database with a drive of two directories, whose paths were swapped
// by raw SQL, and prints its error.
func withDrive(run func(ctx context.Context, db *gorm.DB, locker *pathlock.Locker) error) {
	ctx, locker := context.Background(), pathlock.New(memstore.New())
	if err := func() error {
		dsn, drop, err := testserver.ScratchMySQL(ctx)
		if err != nil {
			return err
		}
		defer drop()
		db, err := gorm.Open(mysql.Open(dsn), &gorm.Config{Logger: logger.Discard})
		if err != nil {
			return err
		}
		if pool, err := db.DB(); err == nil {
			defer func() { _ = pool.Close() }()
		}
		if err := errors.Join(db.Use(gormplugin.New(locker, gormplugin.Model(&Directory{}))), gormplugin.AutoMigrate(db)); err != nil {
			return err
		}
		if err := db.Create([]*Directory{{DriveID: "home", Name: "photos"}, {DriveID: "home", Name: "videos"}}).Error; err != nil {
			return err
		}
		swap := `UPDATE directories SET path = CASE name WHEN 'photos' THEN '/videos' ELSE '/photos' END`
		if err := gormplugin.AllowRawWrites(db).Exec(swap).Error; err != nil {
			return err
		}
		return run(ctx, db, locker)
	}(); err != nil {
		fmt.Println(err)
	}
}

// The tags of a model that is registered with the plugin name the columns.
func ExampleNew() {
	withDrive(func(ctx context.Context, db *gorm.DB, locker *pathlock.Locker) error {
		table, err := gormplugin.Describe(db, &Directory{})
		if err != nil {
			return err
		}
		pool, err := db.DB()
		if err != nil {
			return err
		}
		checker, err := fsck.New(ctx, pool, fsck.Dialect(db.Name()), table)
		if err != nil {
			return err
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
		fmt.Println(outcome.After.Total(), "problems left")
		return err
	})
	// Output:
	// directories drive_id parent_id name path
	// row 1: path /videos -> /photos
	// row 2: path /photos -> /videos
	// 0 problems left
}
