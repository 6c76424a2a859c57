package integration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/fsck/gormfsck"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Somebody swapped two paths by hand.
func Example_gormfsck() {
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
	if err := db.Use(gormplugin.New(locker, gormplugin.Model(&Directory{}))); err != nil {
		fmt.Println(err)
		return
	}
	if err := gormplugin.AutoMigrate(db); err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"photos", "videos"} {
		if err := db.Create(&Directory{DriveID: "home", Name: name}).Error; err != nil {
			fmt.Println(err)
			return
		}
	}
	byHand := gormplugin.AllowRawWrites(db).Exec(`UPDATE directories SET path = CASE name WHEN 'photos' THEN '/videos' ELSE '/photos' END`)
	if byHand.Error != nil {
		fmt.Println(byHand.Error)
		return
	}

	ctx := context.Background()
	checker, err := gormfsck.New(ctx, db, &Directory{})
	if err != nil {
		fmt.Println(err)
		return
	}
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
	// row 1: path /videos -> /photos
	// row 2: path /photos -> /videos
	// 0 problems left
}
