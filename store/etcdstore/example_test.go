package etcdstore_test

import (
	"context"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/etcdstore"
)

// The program names all members, and closes the store at its end.
func ExampleOpen() {
	ctx := context.Background()
	store, err := etcdstore.Open("etcd://etcd-1,etcd-2,etcd-3/locks")
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
