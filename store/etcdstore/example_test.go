package etcdstore_test

import (
	"context"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testetcd"
	"github.com/pathlock-go/pathlock/store/etcdstore"
)

func ExampleOpen() {
	server, end := testetcd.StartExample()
	defer end()
	ctx := context.Background()

	store, err := etcdstore.Open("etcd://" + server.Addr + "/locks")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close(ctx) }()
	locker := pathlock.New(store, pathlock.WithLease(30*time.Second))

	tree, _ := pathlock.NewTree("testplan", "plan-001")
	path, _ := pathlock.ParsePath("/dir1/dir2")
	lock, err := locker.Acquire(ctx, pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(path)}, Note: "rename"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("locked", lock.Claims())
	fmt.Println("released:", lock.Release(ctx) == nil)
	// Output:
	// locked [IX / IX /dir1 X /dir1/dir2]
	// released: true
}
