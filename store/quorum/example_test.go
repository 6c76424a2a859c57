package quorum_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/quorum"
)

// Three stores hold the locks together. One lives in the process here; in earnest each is on a
// machine of its own, as by redisstore.Open.
func ExampleNew() {
	ctx := context.Background()
	store, err := quorum.New([]pathlock.Store{memstore.New(), memstore.New(), memstore.New()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close(ctx) }()

	locker := pathlock.New(store)
	tree, err := pathlock.NewTree("testplan", "plan-001")
	if err != nil {
		fmt.Println(err)
		return
	}
	dir := pathlock.MustParsePath("/dir1")
	lock, err := locker.Acquire(ctx, pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(dir)}, Note: "rename"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = lock.Release(ctx) }()

	_, err = locker.Acquire(ctx, pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(dir)}, Wait: pathlock.NoWait})
	var conflict *pathlock.ConflictError
	if errors.As(err, &conflict) {
		fmt.Printf("%s %s is held for %q\n", conflict.Mode, conflict.Path, conflict.Blocker.Note)
	}
	// Output: X /dir1 is held for "rename"
}

// down is a store that cannot be reached.
type down struct{ pathlock.Store }

func (down) Acquire(context.Context, pathlock.Acquisition) (pathlock.Grant, error) {
	return pathlock.Grant{}, fmt.Errorf("%w: connection refused", pathlock.ErrUnavailable)
}

func (down) Ping(context.Context) error {
	return fmt.Errorf("%w: connection refused", pathlock.ErrUnavailable)
}

// With two of three members down nothing is granted, and the error says which they are.
func ExampleMajorityError() {
	ctx := context.Background()
	store, err := quorum.New(
		[]pathlock.Store{memstore.New(), down{memstore.New()}, down{memstore.New()}},
		quorum.WithNames("redis-a", "redis-b", "redis-c"),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close(ctx) }()

	err = store.Ping(ctx)
	var majority *quorum.MajorityError
	if errors.As(err, &majority) {
		fmt.Printf("%d of %d members are needed\n", majority.Needed, majority.Members)
		for _, f := range majority.Failed {
			fmt.Printf("%s: %v\n", f.Name, f.Err)
		}
	}
	fmt.Println(errors.Is(err, pathlock.ErrUnavailable))
	// Output:
	// 2 of 3 members are needed
	// redis-b: pathlock: lock store unavailable: connection refused
	// redis-c: pathlock: lock store unavailable: connection refused
	// true
}
