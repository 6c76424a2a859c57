package sqlopen_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
)

// One URL names the database, its kind and the user.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()

	store, err := sqlopen.Open("sqlite://" + filepath.Join(dir, "locks.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close(ctx) }()
	if err := store.Create(ctx); err != nil { // does nothing where the tables are there
		fmt.Println(err)
		return
	}
	fmt.Println(store.Ping(ctx))
	// Output: <nil>
}
