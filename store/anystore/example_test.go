package anystore_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// The lock store is a setting of the program.
func ExampleOpen() {
	ctx := context.Background()
	store, err := anystore.Open(ctx, "memory://")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close(ctx) }()

	tree, _ := pathlock.NewTree("testplan", "plan-001")
	path, _ := pathlock.ParsePath("/dir1")
	lock, err := pathlock.New(store).Acquire(ctx, pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(path)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = lock.Release(ctx) }()
	fmt.Println("locks on", store)
	// Output: locks on memory:// (this process only)
}

// A password of any characters stays out of the URL, and out of what is shown of the store.
func ExampleWithPassword() {
	ctx := context.Background()
	store, err := anystore.Open(ctx, "redis://app@127.0.0.1:6379/0", anystore.WithPassword("p@ss/w:rd"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close(ctx) }()
	fmt.Println(store)
	// Output: redis://127.0.0.1:6379/0
}

// A program that shows the locks of others leaves the database as it is.
func ExampleWithoutTables() {
	ctx := context.Background()
	store, err := anystore.Open(ctx, "postgres://app:password@127.0.0.1:1/app", anystore.WithoutTables())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close(ctx) }()
	_, err = store.Trees(ctx)
	fmt.Println(errors.Is(err, pathlock.ErrUnavailable))
	// Output: true
}

// An error about a URL quotes none of it.
func ExampleOpen_malformed() {
	_, err := anystore.Open(context.Background(), "redis://app:p#ss@127.0.0.1:6379/0")
	fmt.Println(errors.Is(err, anystore.ErrURL))
	// Output: true
}

// A program whose lock store fails its Ping says why, to people who may not see addresses.
func ExampleTrouble() {
	ctx := context.Background()
	store, err := anystore.Open(ctx, "redis://127.0.0.1:1/0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close(ctx) }()
	if err := store.Ping(ctx); err != nil {
		fmt.Println("the lock store", anystore.Trouble(err))
	}
	// Output: the lock store does not answer
}
