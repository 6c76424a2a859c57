package pathlock_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// editing locks a directory for ten minutes and lets the hold outlive the lock.
func editing(locker *pathlock.Locker) (pathlock.Tree, pathlock.Token, error) {
	tree, err := pathlock.NewTree("testplan", "plan-001")
	if err != nil {
		return pathlock.Tree{}, "", err
	}
	lock, err := locker.Acquire(context.Background(), pathlock.Request{
		Tree:   tree,
		Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1"))},
		Lease:  10 * time.Minute,
		Note:   "anna edits /dir1",
	})
	if err != nil {
		return pathlock.Tree{}, "", err
	}
	token, err := lock.Detach()
	return tree, token, err
}

// Anna edits for ten minutes: no process has to live for as long, and whoever collides learns who
// it is.
func ExampleLock_Detach() {
	locker := pathlock.New(memstore.New())
	tree, token, err := editing(locker)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("there is a token:", token != "")

	_, err = locker.Acquire(context.Background(), pathlock.Request{
		Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1/new"))}, Wait: pathlock.NoWait,
	})
	var conflict *pathlock.ConflictError
	if errors.As(err, &conflict) {
		fmt.Println(conflict.Blocker.Note, conflict.Blocker.Owner.Detached())
	}
	// Output:
	// there is a token: true
	// anna edits /dir1 true
}

// A request that brings the token works under the hold, and leaves it as it is.
func ExampleLocker_Attach() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New())
	tree, token, err := editing(locker)
	if err != nil {
		fmt.Println(err)
		return
	}
	hold, err := locker.Attach(ctx, token, pathlock.WithoutRenewal())
	if err != nil {
		fmt.Println(err)
		return
	}
	rename, err := locker.Acquire(hold.Context(), pathlock.Request{
		Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1/new"))},
	})
	fmt.Println("renamed under the hold:", err)
	_ = rename.Release(ctx)

	again, err := hold.Detach()
	fmt.Println(again == token, err)
	// Output:
	// renamed under the hold: <nil>
	// true <nil>
}

// The hold gets another end: a later one, or an earlier one.
func ExampleLocker_Refresh() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New())
	_, token, err := editing(locker)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range []time.Duration{time.Hour, time.Minute} {
		until, err := locker.Refresh(ctx, token, d)
		fmt.Println(time.Until(until).Round(time.Minute), err)
	}
	// Output:
	// 1h0m0s <nil>
	// 1m0s <nil>
}

// Whoever has the token ends the hold, in whatever process.
func ExampleLocker_ReleaseToken() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New())
	_, token, err := editing(locker)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(locker.ReleaseToken(ctx, token))

	_, err = locker.Attach(ctx, token)
	fmt.Println(errors.Is(err, pathlock.ErrLost), pathlock.FailureOf(err))
	// Output:
	// <nil>
	// true lock-lost
}

// A request moves what the holder edits, and leaves with the hold what it took at the new place. A
// later one moves it on, and gives that back. The hold itself stays.
func ExampleLock_Vacate() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New())
	tree, token, err := editing(locker)
	if err != nil {
		fmt.Println(err)
		return
	}
	archive := pathlock.MustParsePath("/archive")

	hold, _ := locker.Attach(ctx, token, pathlock.WithoutRenewal())
	move, _ := locker.Acquire(hold.Context(), pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(archive)}})
	_, _ = move.Detach()
	_, _ = hold.Detach()
	snapshot, _ := locker.Snapshot(ctx, tree)
	fmt.Println(snapshot.Holders[0].Claims, snapshot.Holders[1].Claims)

	hold, _ = locker.Attach(ctx, token, pathlock.WithoutRenewal())
	hold.Vacate(ctx, archive)
	snapshot, _ = locker.Snapshot(ctx, tree)
	fmt.Println(snapshot.Holders[0].Claims, len(snapshot.Holders))
	// Output:
	// [IX / X /dir1] [IX / X /archive]
	// [IX / X /dir1] 1
}

// A token says which tree it is good for.
func ExampleToken_Tree() {
	_, token, err := editing(pathlock.New(memstore.New()))
	if err != nil {
		fmt.Println(err)
		return
	}
	tree, err := token.Tree()
	fmt.Println(tree, err)

	_, err = pathlock.Token("a wish").Tree()
	fmt.Println(errors.Is(err, pathlock.ErrInvalidToken))
	// Output:
	// testplan/plan-001 <nil>
	// true
}
