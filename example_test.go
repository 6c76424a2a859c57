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

// Trees without a root row have no node whose id could stand for the top.
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

// waitingObserver does something when a request begins to wait.
type waitingObserver struct {
	pathlock.NopObserver
	do func()
}

func (o *waitingObserver) Waiting(context.Context, pathlock.Event) { o.do() }

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

// Readers share, and a writer is alone. A reader becomes a writer under the context of its lock.
func ExampleLocker_RWMutex() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New())
	settings := locker.RWMutex("settings")

	anna, _ := settings.RLock(ctx)
	ben, _ := settings.TryRLock(ctx)
	_, err := settings.TryLock(ctx)
	fmt.Println("a writer beside readers:", errors.Is(err, pathlock.ErrConflict))
	_ = ben.Release(ctx)

	writer, _ := settings.Lock(anna.Context())
	_, err = settings.TryRLockFor(ctx, time.Millisecond)
	fmt.Println("a reader beside a writer:", errors.Is(err, pathlock.ErrConflict))
	again, _ := settings.TryLockFor(writer.Context(), time.Second)
	fmt.Println("the writer again:", again.Fence() == writer.Fence())

	for _, lock := range []*pathlock.Lock{again, writer, anna} {
		_ = lock.Release(ctx)
	}
	// Output:
	// a writer beside readers: true
	// a reader beside a writer: true
	// the writer again: true
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
