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

func Example() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New(), pathlock.WithWait(2*time.Second))

	tree, _ := pathlock.NewTree("testplan", "plan-001")
	lock, err := locker.Acquire(ctx, pathlock.Request{
		Tree:   tree,
		Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1/dir2"))},
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

// A refused request learns what blocks it.
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

// errArchived is a program's own sentinel, which the middleware answers like a name that is taken.
var errArchived = pathlock.FailureNameTaken.New("the plan is archived")

// An error states what has failed, however it is wrapped.
func ExampleFailureOf() {
	fmt.Println(pathlock.FailureOf(fmt.Errorf("rename: %w", errArchived)))
	fmt.Println(pathlock.FailureOf(&pathlock.ConflictError{}))
	fmt.Println(pathlock.FailureOf(context.Canceled) == "")
	// Output:
	// name-taken
	// locked
	// true
}

// Trees without a root row have no node whose id could mean the top.
func ExampleTreeResolver() {
	plans := pathlock.TreeResolver("testplan")
	at, err := plans.Resolve(context.Background(), "plan-001")
	fmt.Println(at.Tree, at.Path, err)
	_, err = plans.Resolve(context.Background(), "")
	fmt.Println(errors.Is(err, pathlock.ErrInvalidID))
	// Output:
	// testplan/plan-001 / <nil>
	// true
}

// The program says where nodes are. The resolver of package gormplugin reads its tables.
func ExampleResolverFunc() {
	suites := map[string]string{"17": "/api/login"}
	resolver := pathlock.ResolverFunc(func(_ context.Context, id string) (pathlock.Location, error) {
		path, ok := suites[id]
		if !ok {
			return pathlock.Location{}, fmt.Errorf("%w: suite %s", pathlock.ErrNotFound, id)
		}
		plan, err := pathlock.NewTree("testplan", "plan-001")
		return pathlock.Location{Tree: plan, Path: pathlock.MustParsePath(path)}, err
	})

	at, err := resolver.Resolve(context.Background(), "17")
	fmt.Println(at.Tree, at.Path, err)
	_, err = resolver.Resolve(context.Background(), "18")
	fmt.Println(pathlock.FailureOf(err), err)
	// Output:
	// testplan/plan-001 /api/login <nil>
	// not-found pathlock: not found: suite 18
}

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

// waitingObserver does something when a request begins to wait.
type waitingObserver struct {
	pathlock.NopObserver
	do func()
}

func (o *waitingObserver) Waiting(context.Context, pathlock.Event) { o.do() }

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

// Anna and Ben each hold what the other one wants. The one that would close the cycle learns so at
// once, and gives back its lock.
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

// S on a node serves for S below it as well, and needs IS on each node above. An owner that would
// also change something there asks for the supremum, and waits for incompatible holders.
func ExampleMode() {
	mode := pathlock.ModeS
	fmt.Println(mode.Intention(), mode.Covers(pathlock.ModeIS), mode.Covers(pathlock.ModeX))
	fmt.Println(mode.CoversBelow(pathlock.ModeS), pathlock.ModeIS.CoversBelow(pathlock.ModeS))
	fmt.Println(pathlock.Supremum(mode, pathlock.ModeIX), pathlock.Compatible(mode, pathlock.ModeIX))
	// Output:
	// IS true false
	// true false
	// SIX false
}

// Who would be in the way of a rename of /a, and of one of /c?
func ExampleSnapshot_InTheWay() {
	locker := pathlock.New(memstore.New())
	ctx := context.Background()
	tree, _ := pathlock.NewTree("testplan", "plan-1")
	claim := pathlock.X(pathlock.MustParsePath("/a/b"))
	lock, _ := locker.Acquire(ctx, pathlock.Request{Tree: tree, Claims: []pathlock.Claim{claim}, Note: "edit /a/b"})
	defer func() { _ = lock.Release(ctx) }()

	snapshot, _ := locker.Snapshot(ctx, tree)
	for _, path := range []string{"/a", "/c"} {
		wanted := pathlock.X(pathlock.MustParsePath(path))
		for _, b := range snapshot.InTheWay("", false, []pathlock.Claim{wanted}) {
			fmt.Printf("%v: %q has %v %v\n", wanted, b.Entry.Note, b.Mode, b.Path)
		}
	}
	fmt.Println(len(snapshot.Blockers()), "wait")
	// Output:
	// X /a: "edit /a/b" has IX /a
	// 0 wait
}
