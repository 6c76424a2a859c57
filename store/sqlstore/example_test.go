package sqlstore_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// The locks lie beside the application's data, in the application's own pool.
func ExampleNew() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "locks.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = db.Close() }()

	store, err := sqlstore.New(db, sqlstore.SQLite,
		sqlstore.WithPrefix("testplan_locks_"),
		sqlstore.WithAutoCreate()) // the program may create tables
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close(ctx) }()

	tree, _ := pathlock.NewTree("testplan", "plan-001")
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
