package integration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ncruces/go-sqlite3/driver"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// A directory's parent is gone, and a renamed subtree has the old prefix here and there.
func Example_fsck() {
	folder, err := os.MkdirTemp("", "pathlock")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()
	ctx := context.Background()
	db, err := driver.Open("file:" + filepath.Join(folder, "drive.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = db.Close() }()
	for _, statement := range []string{
		`CREATE TABLE directories (id INTEGER PRIMARY KEY, drive_id TEXT, parent_id INTEGER, name TEXT, path TEXT)`,
		`INSERT INTO directories VALUES
			(1, 'home', NULL, 'docs',   '/docs'),
			(2, 'home', 1,    'new',    '/docs/new'),
			(3, 'home', 2,    'notes',  '/docs/new/notes'),
			(4, 'home', 2,    'photos', '/docs/old/photos'),
			(5, 'home', 99,   'lonely', '/gone/lonely')`,
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			fmt.Println(err)
			return
		}
	}

	checker, err := fsck.New(ctx, db, fsck.SQLite, fsck.Table{
		Table: "directories", Key: "id", Tree: "drive_id", Parent: "parent_id", Name: "name", Path: "path",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	options := fsck.RepairOptions{
		Locker: pathlock.New(memstore.New()), // the one that those who write have
		Report: func(p fsck.Problem) error {
			fmt.Println(p)
			return nil
		},
		Changed: func(c fsck.Change) error {
			fmt.Printf("row %v: %s = %v\n", c.ID, c.Column, c.New)
			return nil
		},
	}
	options.Apply = true // without it, a dry run
	outcome, err := checker.Repair(ctx, options)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d changes in %d transactions, %d problems left\n", outcome.Changes, outcome.Transactions, outcome.After.Total())
	// Output:
	// wrong-path: tree home, row 4 "photos": its path is wrong (is "/docs/old/photos", should be "/docs/new/photos")
	// orphan: tree home, row 5 "lonely": its parent 99 is missing
	// mixed-prefix: tree home, row 2 "new": 1 of its children carry another prefix than its path
	// row 6: parent_id = <nil>
	// row 6: name = lost+found
	// row 6: path = /lost+found
	// row 5: parent_id = 6
	// row 4: path = /docs/new/photos
	// row 5: path = /lost+found/lonely
	// 6 changes in 2 transactions, 0 problems left
}
