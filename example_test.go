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

// errArchived is a sentinel of a program's own, which the middleware answers as it does a name that
// is taken.
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

// Where nodes are is for the program to say. The resolver of package gormplugin reads its tables.
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

// One instance rebuilds the index, and the others do without.
func ExampleLocker_Mutex() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New())

	mutex := locker.Mutex("search/rebuild")
	mutex.Note = "host-1"
	lock, err := mutex.TryLock(ctx)
	if err != nil {
		fmt.Println(err) // somebody else rebuilds it, or the store does not answer
		return
	}

	_, err = locker.Mutex("search/rebuild").TryLockFor(ctx, 10*time.Millisecond)
	var conflict *pathlock.ConflictError
	if errors.As(err, &conflict) {
		fmt.Println(mutex.Name(), "is held by", conflict.Blocker.Note)
	}
	fmt.Println(lock.Release(ctx))
	// Output:
	// search/rebuild is held by host-1
	// <nil>
}

// balance is a row that refuses late writes: it has the fence of the latest one.
type balance struct {
	amount int
	fence  uint64
}

// write is UPDATE … SET amount = ?, fence = ? WHERE fence <= ?
func (b *balance) write(amount int, fence uint64) bool {
	if fence < b.fence {
		return false
	}
	b.amount, b.fence = amount, fence
	return true
}

// A process may sleep between its last look at the context and its write, past its lease. The fence
// makes such a write harmless.
func ExampleMutex_Lock() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New())
	mutex := locker.Mutex("account/7")
	var row balance

	late, _ := mutex.Lock(ctx)
	if late.Context().Err() == nil {
		// The process sleeps here. Its lease ends, and somebody else is next.
		_ = late.Release(ctx)
		next, _ := mutex.Lock(ctx)
		fmt.Println(row.write(100, next.Fence()))
		_ = next.Release(ctx)

		fmt.Println(row.write(50, late.Fence()))
	}
	fmt.Println(row.amount)
	// Output:
	// true
	// false
	// 100
}

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
	token, err := lock.Detach(context.Background())
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

	again, err := hold.Detach(context.Background())
	fmt.Println(again == token, err)
	// Output:
	// renamed under the hold: <nil>
	// true <nil>
}
