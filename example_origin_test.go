package pathlock_test

import (
	"context"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// A job names itself. Whoever looks at the locks, in any process, sees where they come from.
func ExampleWithOrigin() {
	locker := pathlock.New(memstore.New(), pathlock.WithInstance("worker-3"))
	ctx := pathlock.WithOrigin(context.Background(), pathlock.Origin{Operation: "export", RequestID: "job 4711"})
	fmt.Println(pathlock.OriginOf(ctx).Operation)

	tree, _ := pathlock.NewTree("testplan", "plan-1")
	lock, err := locker.Acquire(ctx, pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.S(pathlock.MustParsePath("/a"))}, Note: "nightly export"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = lock.Release(ctx) }()

	snapshot, err := locker.Snapshot(ctx, tree)
	if err != nil {
		fmt.Println(err)
		return
	}
	holder := snapshot.Holders[0]
	fmt.Println(holder.Note, "by", holder.Origin.Instance, "for", holder.Origin.RequestID)
	// Output:
	// export
	// nightly export by worker-3 for job 4711
}

// Who would be in the way of a rename of /a, and of one of /c?
func ExampleSnapshot_InTheWay() {
	locker := pathlock.New(memstore.New())
	ctx := context.Background()
	tree, _ := pathlock.NewTree("testplan", "plan-1")
	claim := pathlock.X(pathlock.MustParsePath("/a/b"))
	lock, err := locker.Acquire(ctx, pathlock.Request{Tree: tree, Claims: []pathlock.Claim{claim}, Note: "edit /a/b"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = lock.Release(ctx) }()

	snapshot, err := locker.Snapshot(ctx, tree)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, path := range []string{"/a", "/c"} {
		wanted := pathlock.X(pathlock.MustParsePath(path))
		for _, b := range snapshot.InTheWay("", false, []pathlock.Claim{wanted}) {
			fmt.Printf("%v: %q has %v %v\n", wanted, b.Hold.Note, b.Mode, b.Path)
		}
	}
	fmt.Println(len(snapshot.Blockers()), "wait")
	// Output:
	// X /a: "edit /a/b" has IX /a
	// 0 wait
}
