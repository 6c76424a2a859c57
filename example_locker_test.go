package pathlock_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// A program makes one locker, and refuses to start with settings that make no sense or with a store
// that does not answer.
func ExampleNew() {
	locker := pathlock.New(memstore.New(),
		pathlock.WithLease(20*time.Second),
		pathlock.WithWait(2*time.Second),
		pathlock.WithLogger(slog.New(slog.DiscardHandler)),
	)
	fmt.Println(locker.Wait(), locker.Check(), locker.Ping(context.Background()))

	wrong := pathlock.New(memstore.New(), pathlock.WithLease(time.Millisecond))
	fmt.Println(errors.Is(wrong.Check(), pathlock.ErrInvalidRequest))
	// Output:
	// 2s <nil> <nil>
	// true
}

// Siblings are locked at once. Whoever would change what another one reads waits, or is refused.
func ExampleLocker_Acquire() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New())
	tree, _ := pathlock.NewTree("testplan", "plan-001")

	for _, claim := range []pathlock.Claim{
		pathlock.X(pathlock.MustParsePath("/dir1/dir2")),
		pathlock.X(pathlock.MustParsePath("/dir1/dir3")),
		pathlock.S(pathlock.MustParsePath("/dir1")),
	} {
		lock, err := locker.Acquire(ctx, pathlock.Request{
			Tree: tree, Claims: []pathlock.Claim{claim}, Wait: pathlock.NoWait,
		})
		if err != nil {
			fmt.Println(claim, "is refused:", errors.Is(err, pathlock.ErrConflict))
			continue
		}
		defer func() { _ = lock.Release(ctx) }()
		fmt.Println(claim, "is held, in", lock.Tree())
	}
	// Output:
	// X /dir1/dir2 is held, in testplan/plan-001
	// X /dir1/dir3 is held, in testplan/plan-001
	// S /dir1 is refused: true
}

// An operator finds out who keeps a tree locked, and takes it away.
func ExampleLocker_ForceRelease() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New(), pathlock.WithLogger(slog.New(slog.DiscardHandler)))
	plan, _ := pathlock.NewTree("testplan", "plan-001")
	lock, _ := locker.Acquire(ctx, pathlock.Request{Tree: plan, Gate: true, Note: "import"})

	trees, _ := locker.Trees(ctx)
	for _, tree := range trees {
		snapshot, _ := locker.Snapshot(ctx, tree)
		for _, hold := range snapshot.Holders {
			fmt.Println(tree.Namespace(), tree.ID(), hold.Note, locker.ForceRelease(ctx, tree, hold.Owner))
		}
	}
	fmt.Println(errors.Is(lock.Release(ctx), pathlock.ErrLost))
	// Output:
	// testplan plan-001 import <nil>
	// true
}

// A watchdog ends the work that is done under a lock, and says why.
func ExampleLock_Abandon() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New())
	tree, _ := pathlock.NewTree("testplan", "plan-001")
	lock, _ := locker.Acquire(ctx, pathlock.Request{Tree: tree, Gate: true})

	lock.Abandon(ctx, errors.New("the import has run for an hour"))
	fmt.Println(context.Cause(lock.Context()))
	fmt.Println(locker.Shutdown(ctx))
	// Output:
	// the import has run for an hour
	// <nil>
}

// waitingObserver does something when a request begins to wait.
type waitingObserver struct {
	pathlock.NopObserver
	do func()
}

func (o *waitingObserver) Waiting(context.Context, pathlock.Event) { o.do() }

// Whoever has waited looks again at what its work was planned on: those before it may have changed
// that.
func ExampleLock_Waited() {
	ctx := context.Background()
	observer := new(waitingObserver)
	locker := pathlock.New(memstore.New(), pathlock.WithObserver(observer))
	tree, _ := pathlock.NewTree("testplan", "plan-001")

	first, _ := locker.Acquire(ctx, pathlock.Request{Tree: tree, Gate: true})
	observer.do = func() { first.ReleaseInBackground(ctx) }
	second, _ := locker.Acquire(ctx, pathlock.Request{Tree: tree, Gate: true})
	fmt.Println(first.Waited(), second.Waited(), second.Fence() > first.Fence())

	_ = second.Release(ctx)
	fmt.Println(locker.Shutdown(ctx))
	// Output:
	// false true true
	// <nil>
}

// printingObserver prints what it sees.
type printingObserver struct{ pathlock.NopObserver }

func (printingObserver) Granted(_ context.Context, e pathlock.Event) {
	fmt.Println("granted:", e.Note, e.Claims)
}

func (printingObserver) Refused(_ context.Context, e pathlock.Event) {
	fmt.Println("refused:", e.Note, errors.Is(e.Err, pathlock.ErrConflict))
}

func (printingObserver) Released(_ context.Context, e pathlock.Event) {
	fmt.Println("released:", e.Note)
}

// An observer embeds NopObserver and has the methods that are of interest.
func ExampleWithObserver() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New(), pathlock.WithObserver(printingObserver{}))
	tree, _ := pathlock.NewTree("testplan", "plan-001")
	dir := pathlock.MustParsePath("/dir1")

	rename, _ := locker.Acquire(ctx, pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(dir)}, Note: "rename"})
	_, _ = locker.Acquire(ctx, pathlock.Request{
		Tree: tree, Claims: []pathlock.Claim{pathlock.S(dir)}, Wait: pathlock.NoWait, Note: "export",
	})
	_ = rename.Release(ctx)
	// Output:
	// granted: rename [X /dir1]
	// refused: export true
	// released: rename
}

// Anna and Ben each hold what the other one wants. Who would close the circle hears so at once, and
// gives back what it has.
func ExampleDeadlockError() {
	ctx := context.Background()
	queued, granted := make(chan struct{}), make(chan error)
	locker := pathlock.New(memstore.New(), pathlock.WithObserver(&waitingObserver{do: func() { close(queued) }}))
	tree, _ := pathlock.NewTree("testplan", "plan-001")
	lock := func(ctx context.Context, path, note string) (*pathlock.Lock, error) {
		claims := []pathlock.Claim{pathlock.X(pathlock.MustParsePath(path))}
		return locker.Acquire(ctx, pathlock.Request{Tree: tree, Claims: claims, Note: note})
	}

	anna, _ := lock(ctx, "/dir1", "anna")
	ben, _ := lock(ctx, "/dir2", "ben")
	go func() {
		_, err := lock(anna.Context(), "/dir2", "anna")
		granted <- err
	}()
	<-queued
	_, err := lock(ben.Context(), "/dir1", "ben")
	var deadlock *pathlock.DeadlockError
	if errors.As(err, &deadlock) {
		fmt.Println(deadlock.Mode, deadlock.Path, "has", deadlock.Blocker.Note)
	}
	_ = ben.Release(ctx)
	fmt.Println(<-granted)
	// Output:
	// X /dir1 has anna
	// <nil>
}
