package fsck_test

import (
	"context"
	"database/sql"
	"fmt"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Directory is a row of the table of the examples.
type Directory struct {
	ID       int64
	DriveID  string `pathlock:"tree"`
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name"`
	Path     string `pathlock:"path"`
}

// The tags of a model that is registered with the plugin name the columns.
func ExampleNew() {
	withDrives(func(ctx context.Context, pool *sql.DB) error {
		db, err := gorm.Open(mysql.New(mysql.Config{Conn: pool}))
		if err != nil {
			return err
		}
		if err := db.Use(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Directory{}))); err != nil {
			return err
		}
		table, err := gormplugin.Describe(db, &Directory{})
		if err != nil {
			return err
		}
		checker, err := fsck.New(ctx, pool, fsck.Dialect(db.Name()), table)
		if err != nil {
			return err
		}
		fmt.Println(table.Table, table.Tree, table.Parent, table.Name, table.Path)
		summary, err := checker.Check(ctx, fsck.Options{}, func(fsck.Problem) error { return nil })
		fmt.Println(summary.Rows, "rows,", summary.Total(), "problems")
		return err
	})
	// Output:
	// directories drive_id parent_id name path
	// 6 rows, 2 problems
}
