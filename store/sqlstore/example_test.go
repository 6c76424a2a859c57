package sqlstore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/sqlstore"
	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
)

// scratch returns the path of a file that does not exist yet, and what removes it.
func scratch() (path string, remove func()) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		return os.DevNull, func() {}
	}
	return filepath.Join(dir, "locks.db"), func() { _ = os.RemoveAll(dir) }
}

// The locks lie beside the application's data, in the application's own pool.
func ExampleNew() {
	path, remove := scratch()
	defer remove()
	ctx := context.Background()
	db, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = db.Close() }()

	store, err := sqlstore.New(db, sqlstore.SQLite,
		sqlstore.WithPrefix("testplan_locks_"),
		sqlstore.WithTables(), // the program may create tables
		sqlstore.WithMaxRequest(10_000))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close() }()

	tree, err := pathlock.NewTree("testplan", "plan-001")
	if err != nil {
		fmt.Println(err)
		return
	}
	locker := pathlock.New(store, pathlock.WithLease(30*time.Second))
	lock, err := locker.Acquire(ctx, pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1"))}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("holds /dir1:", lock.Fence() > 0)
	fmt.Println("released:", lock.Release(ctx) == nil)
	// Output:
	// holds /dir1: true
	// released: true
}

// A program checks the table when it starts, with a user who may not create any.
func ExampleStore_Check() {
	path, remove := scratch()
	defer remove()
	ctx := context.Background()
	store, err := sqlopen.Open("sqlite://" + path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close() }()

	err = store.Check(ctx)
	fmt.Println(errors.Is(err, sqlstore.ErrTables))
	fmt.Println(err)
	fmt.Println(store.Create(ctx), store.Check(ctx))
	// Output:
	// true
	// sqlstore: the table is not as it has to be: there is no table pathlock_trees: create it by Store.Create
	// <nil> <nil>
}
