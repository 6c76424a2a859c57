package etcdstore_test

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

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

// A write to etcd that is refused if the lock has been lost.
func ExampleStore_Owns() {
	server, end := testetcd.StartExample()
	defer end()
	ctx := context.Background()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{server.Addr}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = client.Close() }()
	store := etcdstore.New(client)
	defer func() { _ = store.Close(ctx) }()
	locker := pathlock.New(store)

	tree, _ := pathlock.NewTree("testplan", "plan-001")
	lock, err := locker.Acquire(ctx, pathlock.Request{Tree: tree, Gate: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	held, err := store.Owns(ctx, lock)
	if err != nil {
		fmt.Println(err)
		return
	}
	write := func(value string) {
		response, err := client.Txn(ctx).If(held...).Then(clientv3.OpPut("/data/plan-001", value)).Commit()
		fmt.Println(value, "is written:", err == nil && response.Succeeded)
	}
	write("one")
	_ = lock.Release(ctx)
	write("two")
	// Output:
	// one is written: true
	// two is written: false
}
