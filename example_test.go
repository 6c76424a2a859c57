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

// Whoever collides learns what is in the way.
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

// A scope joins acquisitions whose contexts do not descend from each other.
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

// failures counts the answers of each kind.
type failures struct {
	pathlock.NopObserver
	counted map[pathlock.Failure]int
}

// Answered implements [pathlock.Observer].
func (f failures) Answered(_ context.Context, failure pathlock.Failure) { f.counted[failure]++ }

// A program that answers its clients without package middleware tells the observers, so that the
// metrics count its answers too.
func ExampleLocker_Answered() {
	seen := failures{counted: make(map[pathlock.Failure]int)}
	locker := pathlock.New(memstore.New(), pathlock.WithObserver(seen))

	locker.Answered(context.Background(), pathlock.FailureLocked)
	fmt.Println(seen.counted)
	// Output: map[locked:1]
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

// A request that has waited checks again what its work was planned on: earlier holders may have
// changed it.
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

// Anna and Ben each hold what the other one wants. Whoever would close the cycle learns so at once,
// and gives back what it has.
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

// What one owner has on a node decides what another may have there.
func ExampleCompatible() {
	for _, held := range pathlock.Modes() {
		fmt.Printf("%-4s with", held)
		for _, wanted := range pathlock.Modes() {
			if pathlock.Compatible(held, wanted) {
				fmt.Print(" ", wanted)
			}
		}
		fmt.Println()
	}
	// Output:
	// IS   with IS IX S SIX
	// IX   with IS IX
	// S    with IS S
	// SIX  with IS
	// X    with
}

// An owner who asks for a node twice has the supremum of both modes.
func ExampleSupremum() {
	fmt.Println(pathlock.Supremum(pathlock.ModeS, pathlock.ModeIX))
	fmt.Println(pathlock.Supremum(pathlock.ModeIS, pathlock.ModeX))
	// Output:
	// SIX
	// X
}

// S on a node serves for S below it as well, and needs IS on each node above.
func ExampleMode() {
	mode := pathlock.ModeS
	fmt.Println(mode.Intention(), mode.Covers(pathlock.ModeIS), mode.Covers(pathlock.ModeX))
	fmt.Println(mode.CoversBelow(pathlock.ModeS), pathlock.ModeIS.CoversBelow(pathlock.ModeS))
	// Output:
	// IS true false
	// true false
}

// One instance rebuilds the index, and the others do not.
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

// balance is a row that refuses late writes: it keeps the fence of the latest write.
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

// A job that hangs must not keep its name locked for good, though its process lives. It learns from
// its context that its time is over.
func ExampleMutex_Lock_maxHold() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New(), pathlock.WithLogger(slog.New(slog.DiscardHandler)))
	mutex := locker.Mutex("nightly")
	mutex.MaxHold = 10 * time.Millisecond

	hangs, _ := mutex.Lock(ctx)
	next, _ := mutex.Lock(ctx)
	fmt.Println(errors.Is(context.Cause(hangs.Context()), pathlock.ErrHeldTooLong))
	fmt.Println(errors.Is(hangs.Release(ctx), pathlock.ErrHeldTooLong))
	_ = next.Release(ctx)
	// Output:
	// true
	// true
}

// A writer lets readers in to what it has just written, and reads on. No writer gets in between.
func ExampleLock_Downgrade() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New())
	settings := locker.RWMutex("settings")

	lock, _ := settings.Lock(ctx)
	fmt.Println(lock.Downgrade(ctx))
	reader, err := settings.TryRLock(ctx)
	fmt.Println("a reader:", err)
	_, err = settings.TryLock(ctx)
	fmt.Println("a writer:", errors.Is(err, pathlock.ErrConflict))
	fmt.Println(reader.Release(ctx), lock.Release(ctx), lock.Context().Err())
	// Output:
	// <nil>
	// a reader: <nil>
	// a writer: true
	// <nil> <nil> context canceled
}

// A job names itself. Whoever looks at the locks, in any process, sees where they come from.
func ExampleWithOrigin() {
	locker := pathlock.New(memstore.New(), pathlock.WithInstance("worker-3"))
	ctx := pathlock.WithOrigin(context.Background(), pathlock.Origin{Operation: "export", RequestID: "job 4711"})
	fmt.Println(pathlock.OriginOf(ctx).Operation)

	tree, _ := pathlock.NewTree("testplan", "plan-1")
	lock, _ := locker.Acquire(ctx, pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.S(pathlock.MustParsePath("/a"))}, Note: "nightly export"})
	defer func() { _ = lock.Release(ctx) }()

	snapshot, _ := locker.Snapshot(ctx, tree)
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

// stepPrinter is an observer that prints the steps which code around the locks reports.
type stepPrinter struct{ pathlock.NopObserver }

func (stepPrinter) Step(ctx context.Context, s pathlock.Step) (context.Context, func(error)) {
	fmt.Println(pathlock.OriginOf(ctx).Operation, "begins:", s.Kind, s.Attempt)
	return ctx, func(err error) { fmt.Println(s.Kind, "ends:", err) }
}

// Package middleware and package gormplugin report their work by Step. A program with a transaction
// manager of its own does the same, and every observer of the locker sees it.
func ExampleLocker_Step() {
	locker := pathlock.New(memstore.New(), pathlock.WithObserver(stepPrinter{}))
	ctx := pathlock.WithOrigin(context.Background(), pathlock.Origin{Operation: "archive"})

	commit := func(context.Context) error { return nil }
	work, done := locker.Step(ctx, pathlock.Step{Kind: pathlock.StepCommit})
	done(commit(work))

	// Output:
	// archive begins: commit 1
	// commit ends: <nil>
}

// editing locks a directory for ten minutes and lets the hold outlive the lock.
func editing(locker *pathlock.Locker) (pathlock.Tree, pathlock.Token) {
	tree, _ := pathlock.NewTree("testplan", "plan-001")
	lock, _ := locker.Acquire(context.Background(), pathlock.Request{
		Tree:   tree,
		Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1"))},
		Lease:  10 * time.Minute,
		Note:   "anna edits /dir1",
	})
	token, _ := lock.Detach(context.Background())
	return tree, token
}

// Anna edits for ten minutes: no process has to live that long, and whoever collides learns that
// she does.
func ExampleLock_Detach() {
	locker := pathlock.New(memstore.New())
	tree, token := editing(locker)
	fmt.Println("there is a token:", token != "")

	_, err := locker.Acquire(context.Background(), pathlock.Request{
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
	tree, token := editing(locker)
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

// Refresh moves the end of the hold, later or earlier. Whoever has the token can release it, in any
// process.
func ExampleLocker_Refresh() {
	ctx := context.Background()
	locker := pathlock.New(memstore.New())
	tree, token := editing(locker)
	for _, d := range []time.Duration{time.Hour, time.Minute} {
		until, err := locker.Refresh(ctx, token, d)
		fmt.Println(time.Until(until).Round(time.Minute), err)
	}
	of, err := token.Tree()
	fmt.Println(of == tree, err, locker.ReleaseToken(ctx, token))

	_, err = locker.Attach(ctx, token)
	fmt.Println(errors.Is(err, pathlock.ErrLost), pathlock.FailureOf(err))
	// Output:
	// 1h0m0s <nil>
	// 1m0s <nil>
	// true <nil> <nil>
	// true lock-lost
}
