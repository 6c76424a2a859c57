package fsck_test

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// directories describes the table of the examples.
var directories = fsck.Table{
	Table: "directories", Key: "id", Tree: "drive_id", Parent: "parent_id", Name: "name", Path: "path",
}

// withDrives runs an example on a database with two drives, and prints its error. In the drive
// "home", a rename of /docs/old reached only one of two children, and a directory has lost its
// parent. The drive "work" is sound.
func withDrives(run func(context.Context, *sql.DB) error) {
	ctx := context.Background()
	if err := func() error {
		dsn, drop, err := testserver.ScratchMySQL(ctx)
		if err != nil {
			return err
		}
		defer drop()
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			return err
		}
		defer func() { _ = db.Close() }()
		for _, statement := range []string{
			`CREATE TABLE directories (
				id BIGINT AUTO_INCREMENT PRIMARY KEY, drive_id VARCHAR(64) NOT NULL, parent_id BIGINT,
				name VARCHAR(255) NOT NULL, path VARCHAR(700) NOT NULL, KEY (parent_id))`,
			`INSERT INTO directories VALUES
				(1, 'home', NULL, 'docs',   '/docs'),
				(2, 'home', 1,    'new',    '/docs/new'),
				(3, 'home', 2,    'notes',  '/docs/new/notes'),
				(4, 'home', 2,    'photos', '/docs/old/photos'),
				(5, 'home', 99,   'lonely', '/gone/lonely'),
				(6, 'work', NULL, 'docs',   '/docs')`,
		} {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return run(ctx, db)
	}(); err != nil {
		fmt.Println(err)
	}
}

// The columns of the table in the documentation of gormplugin need not be named. Others are, as the
// database names them.
func ExampleDefaultTable() {
	table := fsck.DefaultTable("suites")
	fmt.Println(table.Key, table.Tree, table.Parent, table.Name, table.Path, table.Deleted)

	table.Tree, table.Deleted = "project_id", ""
	fmt.Println(table.Tree)
	// Output:
	// id plan_id parent_id name path deleted_at
	// project_id
}

// A check only reads. It can be restricted to one tree.
func ExampleChecker_Check() {
	withDrives(func(ctx context.Context, db *sql.DB) error {
		checker, err := fsck.New(ctx, db, fsck.MySQL, directories)
		if err != nil {
			return err
		}
		for _, drive := range []string{"home", "work"} {
			summary, err := checker.Check(ctx, fsck.Options{Tree: fsck.TextKey(drive)}, func(p fsck.Problem) error {
				fmt.Println(p)
				return nil
			})
			if err != nil {
				return err
			}
			fmt.Printf("%s: %d rows, %d problems\n", drive, summary.Rows, summary.Total())
		}
		return nil
	})
	// Output:
	// wrong-path: tree home, row 4 "photos": its path is wrong (is "/docs/old/photos", should be "/docs/new/photos")
	// orphan: tree home, row 5 "lonely": its parent 99 is missing
	// home: 5 rows, 2 problems
	// work: 1 rows, 0 problems
}

// A dry run says what a repair would change, and with Apply the repair changes it. Orphans go below
// a row called lost+found, which the database gives a key.
func ExampleChecker_Repair() {
	withDrives(func(ctx context.Context, db *sql.DB) error {
		checker, err := fsck.New(ctx, db, fsck.MySQL, directories)
		if err != nil {
			return err
		}
		options := fsck.RepairOptions{
			Locker: pathlock.New(memstore.New()), // in a program, the locker of those who write the table
			Changed: func(c fsck.Change) error {
				fmt.Printf("  row %v: %s = %v\n", c.ID, c.Column, c.New)
				return nil
			},
		}
		for _, apply := range []bool{false, true} {
			options.Apply = apply
			outcome, err := checker.Repair(ctx, options)
			if err != nil {
				return err
			}
			fmt.Printf("%d changes in %d transactions, %d problems left\n", outcome.Changes, outcome.Transactions, outcome.After.Total())
		}
		return nil
	})
	// Output:
	//   row new:1: parent_id = <nil>
	//   row new:1: name = lost+found
	//   row new:1: path = /lost+found
	//   row 5: parent_id = new:1
	//   row 4: path = /docs/new/photos
	//   row 5: path = /lost+found/lonely
	// 6 changes in 0 transactions, 0 problems left
	//   row 7: parent_id = <nil>
	//   row 7: name = lost+found
	//   row 7: path = /lost+found
	//   row 5: parent_id = 7
	//   row 4: path = /docs/new/photos
	//   row 5: path = /lost+found/lonely
	// 6 changes in 2 transactions, 0 problems left
}

// Keys are whole numbers, texts or bytes. Two Keys are equal if they are ==.
func ExampleKey() {
	seven := fsck.IntKey(7)
	fmt.Println(seven == fsck.IntKey(7), fsck.Key{}.IsZero())
	fmt.Println(seven, fsck.TextKey("home"), fsck.TextKey("my drive"))
	// Output:
	// true true
	// 7 home my drive
}
