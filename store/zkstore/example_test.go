package zkstore_test

import (
	"context"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/zkstore"
)

// The program closes the store at its end: its session ends, and nothing of it is left.
func ExampleOpen() {
	ctx := context.Background()
	store, err := zkstore.Open("zk://zk1,zk2,zk3/pathlock?timeout=10s")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close(ctx) }()
	if err := store.Ping(ctx); err != nil {
		fmt.Println(err)
		return
	}
	locker := pathlock.New(store, pathlock.WithLease(30*time.Second))
	fmt.Println(locker.Trees(ctx))
}

// An operator's settings: the ensemble, a root and a user of its own.
func ExampleNew() {
	store, err := zkstore.New([]string{"zk1", "zk2:2182", "zk3"},
		zkstore.WithRoot("/staging"),
		zkstore.WithDigest("pathlock", "a long password"),
		zkstore.WithTimeout(3*time.Second),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(store.Close(context.Background()))
	// Output: <nil>
}
