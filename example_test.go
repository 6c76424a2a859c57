package pathlock_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func Example() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New(), pathlock.WithWait(2*time.Second))

	tree, err := pathlock.NewTree("testplan", "plan-001")
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := pathlock.ParsePath("/dir1/dir2")
	if err != nil {
		fmt.Println(err)
		return
	}
	lock, err := locker.Acquire(ctx, pathlock.Request{
		Tree:   tree,
		Claims: []pathlock.Claim{pathlock.X(dir)},
		Note:   "rename",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = lock.Release(ctx) }()

	snapshot, err := locker.Snapshot(lock.Context(), tree)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, hold := range snapshot.Holders {
		fmt.Println(hold.Note, hold.Claims)
	}
	// Output:
	// rename [IX / IX /dir1 X /dir1/dir2]
}

// Whoever collides learns with what.
func ExampleConflictError() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New())
	tree, _ := pathlock.NewTree("testplan", "plan-001")

	rename, _ := locker.Acquire(ctx, pathlock.Request{
		Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1"))}, Note: "rename by anna",
	})
	defer func() { _ = rename.Release(ctx) }()

	_, err := locker.Acquire(ctx, pathlock.Request{
		Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1/new"))}, Wait: pathlock.NoWait,
	})
	var conflict *pathlock.ConflictError
	if errors.As(err, &conflict) {
		fmt.Println(errors.Is(err, pathlock.ErrConflict), conflict.Mode, conflict.Path)
		fmt.Println(conflict.Blocker.Note, "has", conflict.Blocker.Mode)
	}
	// Output:
	// true IX /dir1
	// rename by anna has X
}

// Under the lock's context an acquisition re-enters: what is held already costs no round trip.
func ExampleLock_Context() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New())
	tree, _ := pathlock.NewTree("testplan", "plan-001")

	outer, _ := locker.Acquire(ctx, pathlock.Request{
		Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1"))},
	})
	inner, err := locker.Acquire(outer.Context(), pathlock.Request{
		Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1/dir2"))},
	})
	fmt.Println(err, inner.Fence() == outer.Fence())

	_ = inner.Release(ctx)
	_ = outer.Release(ctx)
	fmt.Println(errors.Is(outer.Release(ctx), pathlock.ErrNotHeld))
	// Output:
	// <nil> true
	// true
}

// A scope makes acquisitions belong together whose contexts do not descend from each other.
func ExampleLocker_Scope() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New())
	tree, _ := pathlock.NewTree("testplan", "plan-001")

	scope := locker.Scope(ctx)
	for _, path := range []string{"/a", "/a/b"} {
		statement := scope.Context(ctx)
		lock, err := locker.Acquire(statement, pathlock.Request{
			Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath(path))}, Wait: pathlock.NoWait,
		})
		fmt.Println(path, err)
		defer func() { _ = lock.Release(ctx) }()
	}
	// Output:
	// /a <nil>
	// /a/b <nil>
}

// The caller does not wait for the store to hear of the release; the program does, before it ends.
func ExampleLock_ReleaseInBackground() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New())
	tree, _ := pathlock.NewTree("testplan", "plan-001")

	lock, _ := locker.Acquire(ctx, pathlock.Request{
		Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1"))},
	})
	lock.ReleaseInBackground(ctx)
	fmt.Println(lock.Context().Err())

	fmt.Println(locker.Shutdown(ctx))
	trees, _ := locker.Trees(ctx)
	fmt.Println(len(trees), "trees are locked")
	// Output:
	// context canceled
	// <nil>
	// 0 trees are locked
}
