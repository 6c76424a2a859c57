package pathlock_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

func TestReentryAsksNoStoreForWhatIsHeld(t *testing.T) {
	for _, tt := range []struct {
		held, asked string
		local       bool
	}{
		{"X /a", "X /a", true},
		{"X /a", "S /a", true},
		{"X /a", "IX /a/b/c", true},
		{"X /a", "X /a/b, S /a/c", true},
		{"X /a", "IX /", true},
		{"X /", "SIX /a", true},
		{"S /a", "S /a/b", true},
		{"S /a", "IS /a/b", true},
		{"SIX /a", "S /a/b", true},
		{"X /a/b, X /a/c", "X /a/c/d, X /a/b", true},
		{"X /a", "X /b", false},
		{"X /a", "X /ab", false},
		{"X /a/b", "X /a", false},
		{"S /a", "X /a", false},
		{"S /a", "IX /a/b", false},
		{"IX /a", "X /a/b", false},
		{"SIX /a", "X /a/b", false},
		{"X /a", "X /a/b, X /b", false},
		{"IX /a", "IX /a/b", false},
		{"IS /a", "IS /a/b", false},
		{"SIX /a", "IX /a/b", false},
	} {
		reenter := func(t *testing.T, held string) {
			l, store := newLocker()
			outer := acquire(t.Context(), t, l, held)
			store.called()
			inner := acquire(outer.Context(), t, l, tt.asked)
			if got := len(store.called()) == 0; got != tt.local {
				t.Errorf("answered without the store: %v, want %v", got, tt.local)
			}
			if tt.local && inner.Fence() != outer.Fence() {
				t.Errorf("re-entrant fence %d, want the grant's %d", inner.Fence(), outer.Fence())
			}
			if !tt.local && inner.Fence() <= outer.Fence() {
				t.Errorf("the fence of a new grant is %d, not above %d", inner.Fence(), outer.Fence())
			}
			release(t, inner)
			free(t, l, "X /", false)
			release(t, outer)
			free(t, l, "X /", true)
		}
		t.Run(tt.held+" then "+tt.asked, func(t *testing.T) { reenter(t, tt.held) })
		t.Run(tt.held+" among many then "+tt.asked, func(t *testing.T) {
			many := tt.held
			for i := range 35 {
				many += fmt.Sprintf(", IS /m%d", i)
			}
			reenter(t, many)
		})
	}
}

func TestReentryMayRelyOnSeveralGrants(t *testing.T) {
	l, store := newLocker()
	scope := l.Scope(t.Context())
	a := acquire(scope.Context(t.Context()), t, l, "X /a")
	b := acquire(scope.Context(t.Context()), t, l, "X /b")
	store.called()
	both := acquire(scope.Context(t.Context()), t, l, "X /a/x, X /b/y, S /a")
	if calls := store.called(); len(calls) != 0 {
		t.Errorf("asked the store: %v", calls)
	}
	if both.Fence() != b.Fence() {
		t.Errorf("fence %d, want the latest of the grants', %d", both.Fence(), b.Fence())
	}
	release(t, a)
	release(t, b)
	free(t, l, "X /a", false)
	free(t, l, "X /b", false)
	release(t, both)
	free(t, l, "X /", true)
}

// A re-entrant lock is one allocation, whatever the depth.
func TestReentryAllocatesTheLockAlone(t *testing.T) {
	l, _ := newLocker()
	outer := acquire(t.Context(), t, l, "X /dir1")
	ctx := outer.Context()
	for _, depth := range []int{1, 15, pathlock.MaxDepth} {
		req := asking(t, deep(t, depth), deep(t, 1))
		allocations := testing.AllocsPerRun(100, func() {
			lock, err := l.Acquire(ctx, req)
			if err == nil {
				err = lock.Release(ctx)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
		if allocations > 1 {
			t.Errorf("%v allocations at depth %d, want 1", allocations, depth)
		}
	}
	release(t, outer)
}

func TestTheLastReleaseReleases(t *testing.T) {
	l, store := newLocker()
	outer := acquire(t.Context(), t, l, "X /a")
	inner := acquire(outer.Context(), t, l, "X /a/b")
	innermost := acquire(inner.Context(), t, l, "S /a/b/c")
	other := acquire(outer.Context(), t, l, "X /z")
	store.called()

	release(t, outer)
	release(t, inner)
	if calls := store.called(); len(calls) != 0 {
		t.Errorf("released in the store while an inner lock relied on it: %v", calls)
	}
	free(t, l, "X /a", false)
	if err := innermost.Context().Err(); err == nil {
		t.Error("the innermost lock's context outlives the context that it was made from")
	}
	release(t, innermost)
	free(t, l, "X /a", true)
	free(t, l, "X /z", false)
	release(t, other)
	free(t, l, "X /", true)
}

func TestGateCoversEverythingInTheTree(t *testing.T) {
	l, store := newLocker()
	gate, err := l.Acquire(t.Context(), pathlock.Request{Tree: tree(t, "plan"), Gate: true, Wait: pathlock.NoWait})
	if err != nil {
		t.Fatal(err)
	}
	store.called()
	inner := acquire(gate.Context(), t, l, "X /a, S /b")
	if calls := store.called(); len(calls) != 0 {
		t.Errorf("asked the store under the gate: %v", calls)
	}
	free(t, l, "IS /", false)
	release(t, inner)
	release(t, gate)
	free(t, l, "X /", true)
}

func TestServesKnowsWhoseHandlersRun(t *testing.T) {
	l, _ := newLocker()
	lock := acquire(t.Context(), t, l, "X /a")
	owner := l.Scope(lock.Context()).Owner()
	var ends []func(error)
	begin := func(ctx context.Context, kind pathlock.StepKind) {
		_, done := l.Step(ctx, pathlock.Step{Kind: kind})
		ends = append(ends, done)
	}
	begin(lock.Context(), pathlock.StepAssert)
	begin(t.Context(), pathlock.StepHandler) // of a request without locks
	if l.Serves(owner) {
		t.Error("served before the handler")
	}
	begin(lock.Context(), pathlock.StepHandler)
	begin(lock.Context(), pathlock.StepHandler) // of a nested route
	for _, end := range ends {
		if !l.Serves(owner) {
			t.Error("not served though a handler runs")
		}
		end(nil)
	}
	if l.Serves(owner) || l.Serves("somebody else") {
		t.Error("served after the last handler")
	}
	release(t, lock)
}

func TestScopeBindsAcquisitionsWhoseContextsAreStrangers(t *testing.T) {
	l, _ := newLocker()
	scope := l.Scope(t.Context())
	first := acquire(scope.Context(t.Context()), t, l, "X /a")
	second := acquire(scope.Context(context.Background()), t, l, "X /a/b, X /c")
	free(t, l, "X /a", false)
	release(t, first)
	free(t, l, "X /a", false)
	release(t, second)
	free(t, l, "X /", true)

	if got := l.Scope(first.Context()); got != scope {
		t.Error("the lock's context carries another scope")
	}
	elsewhere, _ := newLocker()
	if got := elsewhere.Scope(first.Context()); got.Owner() == scope.Owner() {
		t.Error("a locker on another store takes the scope for its own")
	}
}

// Goroutines that work under one lock exclude each other by the mutexes of other names: each is an
// owner of its own there.
func TestWorkersUnderALockExcludeEachOtherByName(t *testing.T) {
	l, _ := newLocker()
	for name, outer := range map[string]func() (*pathlock.Lock, error){
		"a mutex": func() (*pathlock.Lock, error) { return l.Mutex("job").Lock(t.Context()) },
		"a tree":  func() (*pathlock.Lock, error) { return l.Acquire(t.Context(), request(t, "X /a")) },
	} {
		t.Run(name, func(t *testing.T) {
			job, err := outer()
			if err != nil {
				t.Fatal(err)
			}
			defer release(t, job)
			first, err := l.Mutex("account").Lock(job.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := l.Mutex("account").TryLock(job.Context()); !errors.Is(err, pathlock.ErrConflict) {
				t.Errorf("a second worker gets %v, want a conflict", err)
			}
			again, err := l.Mutex("account").TryLock(first.Context())
			if err != nil {
				t.Fatalf("the first worker again: %v", err)
			}
			release(t, again)
			release(t, first)
		})
	}
}

// The context of a mutex leaves the locks of the request around it where they are.
func TestUnderAMutexTheOuterLocksAreStillHeld(t *testing.T) {
	l, store := newLocker()
	outer := acquire(t.Context(), t, l, "X /a")
	defer release(t, outer)
	mutex, err := l.Mutex("cache").Lock(outer.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release(t, mutex)
	store.called()
	inner := acquire(mutex.Context(), t, l, "X /a/b")
	release(t, inner)
	if calls := store.called(); len(calls) > 0 {
		t.Errorf("what the request holds was asked for again: %q", calls)
	}
	if err := context.Cause(mutex.Context()); err != nil {
		t.Error(err)
	}
}

// What was left behind under a mutex's token is the bearer's, as the lock was.
func TestAnAttachedMutexIsReentered(t *testing.T) {
	l := pathlock.New(memstore.New(), quiet)
	lock, err := l.Mutex("edit").Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	token, err := lock.Detach(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	attached, err := l.Attach(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	defer release(t, attached)
	again, err := l.Mutex("edit").TryLock(attached.Context())
	if err != nil {
		t.Fatalf("under the token: %v", err)
	}
	release(t, again)
}

// Many goroutines, some of which share scopes, on few nodes: nobody may ever be where another owner
// has X, and nothing may be left in the end.
func TestConcurrentUseKeepsOwnersApart(t *testing.T) {
	l, _ := newLocker(pathlock.WithWait(5 * time.Second))
	var (
		mu      sync.Mutex
		writers = map[string]pathlock.Owner{}
		work    sync.WaitGroup
	)
	enter := func(node string, owner pathlock.Owner) {
		mu.Lock()
		defer mu.Unlock()
		if other, ok := writers[node]; ok && other != owner {
			t.Errorf("%s and %s both have X on %s", owner.Short(), other.Short(), node)
		}
		writers[node] = owner
	}
	leave := func(node string) {
		mu.Lock()
		defer mu.Unlock()
		delete(writers, node)
	}
	for worker := range 8 {
		work.Go(func() {
			for i := range 200 {
				node := fmt.Sprintf("/n%d", (worker+i)%3)
				req := request(t, "X "+node)
				req.Wait = 0
				outer, err := l.Acquire(t.Context(), req)
				if err != nil {
					t.Error(err)
					return
				}
				enter(node, l.Scope(outer.Context()).Owner())
				var inner sync.WaitGroup
				for range 2 {
					inner.Go(func() {
						lock, err := l.Acquire(outer.Context(), request(t, "X "+node+"/below"))
						if err != nil {
							t.Error(err)
							return
						}
						if err := lock.Release(t.Context()); err != nil {
							t.Error(err)
						}
					})
				}
				inner.Wait()
				leave(node)
				if err := outer.Release(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	if trees, err := l.Trees(t.Context()); err != nil || len(trees) != 0 {
		t.Errorf("left behind: %v, %v", trees, err)
	}
}

// eachStore runs a test on a store in memory and on the Redis of the tests.
func eachStore(t *testing.T, test func(t *testing.T, store pathlock.Store)) {
	t.Run("memstore", func(t *testing.T) { test(t, memstore.New()) })
	t.Run("redisstore", func(t *testing.T) {
		store, err := redisstore.Open(testserver.Redis(t), redisstore.WithPrefix("mutex-"+rand.Text()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := store.Close(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
		test(t, store)
	})
}

// locked returns what a method of a mutex has granted.
func locked(ctx context.Context, t testing.TB, method func(context.Context) (*pathlock.Lock, error)) *pathlock.Lock {
	t.Helper()
	lock, err := method(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return lock
}

// refusal returns the error with which a method of a mutex must refuse because of others.
func refusal(ctx context.Context, t testing.TB, method func(context.Context) (*pathlock.Lock, error)) *pathlock.ConflictError {
	t.Helper()
	lock, err := method(ctx)
	var conflict *pathlock.ConflictError
	if !errors.As(err, &conflict) {
		t.Fatalf("got %v, %v, want a ConflictError", lock, err)
	}
	return conflict
}

// refused fails the test unless a method of a mutex refuses because of others.
func refused(ctx context.Context, t testing.TB, method func(context.Context) (*pathlock.Lock, error)) {
	t.Helper()
	_ = refusal(ctx, t, method)
}

// tryFor returns TryLockFor as a method without a duration.
func tryFor(m *pathlock.Mutex, d time.Duration) func(context.Context) (*pathlock.Lock, error) {
	return func(ctx context.Context) (*pathlock.Lock, error) { return m.TryLockFor(ctx, d) }
}

func TestAMutexExcludesAllOthers(t *testing.T) {
	eachStore(t, func(t *testing.T, store pathlock.Store) {
		ctx := t.Context()
		here, there := pathlock.New(store, quiet).Mutex("m"), pathlock.New(store, quiet).Mutex("m")
		lock := locked(ctx, t, here.Lock)
		for _, try := range []func(context.Context) (*pathlock.Lock, error){
			here.TryLock, there.TryLock, tryFor(there, 0), tryFor(there, -time.Hour), tryFor(there, 20*time.Millisecond),
			pathlock.New(store, quiet).RWMutex("m").TryRLock,
		} {
			refused(ctx, t, try)
		}
		release(t, locked(ctx, t, pathlock.New(store, quiet).Mutex("another").TryLock))
		release(t, lock)
		next := locked(ctx, t, there.TryLock)
		if next.Fence() <= lock.Fence() {
			t.Errorf("fence %d after %d", next.Fence(), lock.Fence())
		}
		release(t, next)
	})
}

func TestLockWaitsAsLongAsItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := pathlock.New(memstore.New(), quiet)
		m := l.Mutex("m")
		m.Note = "the first"
		lock := locked(t.Context(), t, m.Lock)

		const day = 24 * time.Hour
		ctx, stop := context.WithTimeout(t.Context(), day)
		defer stop()
		began := time.Now()
		conflict := refusal(ctx, t, l.Mutex("m").Lock)
		if waited := time.Since(began); waited != day || conflict.Blocker.Note != "the first" {
			t.Errorf("refused after %v, because of %q", waited, conflict.Blocker.Note)
		}
		if !errors.Is(conflict, context.DeadlineExceeded) {
			t.Errorf("the error does not match the end of the context: %v", conflict)
		}

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(day, cancel)
		if _, err := l.Mutex("m").Lock(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}

		time.AfterFunc(day, func() { _ = lock.Release(t.Context()) })
		began = time.Now()
		release(t, locked(t.Context(), t, m.Lock))
		if waited := time.Since(began); waited != day {
			t.Errorf("granted after %v, want the release after a day", waited)
		}

		lock = locked(t.Context(), t, m.Lock)
		began = time.Now()
		refused(t.Context(), t, tryFor(m, time.Minute))
		if waited := time.Since(began); waited != time.Minute {
			t.Errorf("TryLockFor a minute waited %v", waited)
		}
		began = time.Now()
		refused(t.Context(), t, m.TryLock)
		if waited := time.Since(began); waited != 0 {
			t.Errorf("TryLock waited %v", waited)
		}
		release(t, lock)
	})
}

func TestRefusalsNameTheMutex(t *testing.T) {
	l := pathlock.New(memstore.New(), quiet)
	writer := l.RWMutex("nightly report")
	writer.Note = "host-3"
	lock := locked(t.Context(), t, writer.Lock)
	err := error(refusal(t.Context(), t, l.Mutex("nightly report").TryLock))
	if want := `pathlock: locked by others: mutex "nightly report": held by "host-3", which has X since`; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s…", err, want)
	}
	err = refusal(t.Context(), t, l.RWMutex("nightly report").TryRLock)
	if want := `pathlock: locked by others: mutex "nightly report" for reading: held by "host-3"`; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s…", err, want)
	}
	release(t, lock)
}

func TestNamesOfMutexesAreAnyIDOfATree(t *testing.T) {
	l := pathlock.New(memstore.New(), quiet)
	var held []*pathlock.Lock
	// Names differ byte by byte, and none can break out of the store's own keys.
	for _, name := range []string{
		"a", "A", "a ", " ", "a/b", "/", "..", ".", "{a}", "}{", "%2F", "夜间报告", "a\u0301", "á", strings.Repeat("x", pathlock.MaxTreeBytes),
	} {
		m := l.Mutex(name)
		if m.Name() != name || l.RWMutex(name).Name() != name {
			t.Errorf("%q is called %q", name, m.Name())
		}
		held = append(held, locked(t.Context(), t, m.TryLock))
	}
	for _, lock := range held {
		release(t, lock)
	}
	for _, name := range []string{"", "a\nb", "\x00", "\xff", strings.Repeat("x", pathlock.MaxTreeBytes+1)} {
		if _, err := l.Mutex(name).Lock(t.Context()); !errors.Is(err, pathlock.ErrInvalidTree) {
			t.Errorf("%.10q: %v, want ErrInvalidTree", name, err)
		}
		if _, err := l.RWMutex(name).RLock(t.Context()); !errors.Is(err, pathlock.ErrInvalidTree) {
			t.Errorf("%.10q: %v, want ErrInvalidTree", name, err)
		}
	}
	bad := l.Mutex("m")
	bad.Lease = time.Nanosecond
	if _, err := bad.TryLock(t.Context()); !errors.Is(err, pathlock.ErrInvalidRequest) {
		t.Errorf("a lease of %v: %v, want ErrInvalidRequest", bad.Lease, err)
	}
}

// What is held already costs no question to the store, and what is released last, releases.
func TestAMutexReentersByTheContext(t *testing.T) {
	l, store := newLocker()
	m := l.RWMutex("m")
	outer := locked(t.Context(), t, m.Lock)
	store.called()
	inner := locked(outer.Context(), t, m.Lock)
	reader := locked(outer.Context(), t, m.TryRLock)
	if calls := store.called(); len(calls) != 0 || inner.Fence() != outer.Fence() {
		t.Errorf("re-entry asked the store %q, with fences %d and %d", calls, outer.Fence(), inner.Fence())
	}
	release(t, outer)
	release(t, inner)
	refused(t.Context(), t, m.TryRLock)
	release(t, reader)
	release(t, locked(t.Context(), t, m.TryLock))
}

func TestAReaderBecomesAWriter(t *testing.T) {
	eachStore(t, func(t *testing.T, store pathlock.Store) {
		queued := make(chan struct{}, 1)
		l := pathlock.New(store, quiet, pathlock.WithObserver(&waitingObserver{do: func() { queued <- struct{}{} }}))
		m := l.RWMutex("m")
		a, b := locked(t.Context(), t, m.RLock), locked(t.Context(), t, m.RLock)
		writer := make(chan *pathlock.Lock, 1)
		go func() {
			lock, err := m.Lock(a.Context())
			if err != nil {
				t.Error(err)
			}
			writer <- lock
		}()
		<-queued
		// Two that read and want to write wait for each other.
		if _, err := m.Lock(b.Context()); !errors.Is(err, pathlock.ErrDeadlock) || !strings.Contains(err.Error(), `mutex "m"`) {
			t.Errorf("the second reader that writes: %v, want ErrDeadlock", err)
		}
		// The one that waits keeps out readers that come later.
		refused(t.Context(), t, m.TryRLock)
		release(t, b)
		x := <-writer
		refused(t.Context(), t, m.TryRLock)
		release(t, x)
		c := locked(t.Context(), t, m.TryRLock) // a reads on
		release(t, c)
		release(t, a)
	})
}

// A stream of readers does not keep a writer out, nor one of writers a reader.
func TestReadersAndWritersAreServedInTurn(t *testing.T) {
	eachStore(t, func(t *testing.T, store pathlock.Store) {
		queued := make(chan struct{}, 1)
		l := pathlock.New(store, quiet, pathlock.WithObserver(&waitingObserver{do: func() { queued <- struct{}{} }}))
		m := l.RWMutex("m")
		type turn struct {
			who  string
			lock *pathlock.Lock
		}
		turns := make(chan turn, 5)
		first := locked(t.Context(), t, m.RLock)
		for _, who := range []string{"W1", "R2", "R3", "W4", "R5"} {
			go func() {
				method := m.Lock
				if who[0] == 'R' {
					method = m.RLock
				}
				lock, err := method(t.Context())
				if err != nil {
					t.Error(err)
				}
				turns <- turn{who, lock}
			}()
			<-queued
		}
		release(t, first)
		for _, batch := range [][]string{{"W1"}, {"R2", "R3"}, {"W4"}, {"R5"}} {
			var served []string
			var locks []*pathlock.Lock
			for range batch {
				next := <-turns
				served, locks = append(served, next.who), append(locks, next.lock)
			}
			if slices.Sort(served); !slices.Equal(served, batch) {
				t.Errorf("%q were served, want %q", served, batch)
			}
			select {
			case early := <-turns:
				t.Fatalf("%s was served together with %q", early.who, batch)
			default:
			}
			for _, lock := range locks {
				release(t, lock)
			}
		}
	})
}

// bothMutexes are an RWMutex of this package and one of the standard library, which get the same
// calls.
type bothMutexes struct {
	ours   *pathlock.RWMutex
	std    sync.RWMutex
	queued chan struct{} // gets something when a writer of ours queues

	readers []*pathlock.Lock
	writer  *pathlock.Lock
	// pending are the writers that wait behind the readers, nil if none do.
	pending *pendingWriters
}

type pendingWriters struct {
	ours chan *pathlock.Lock // nil is sent if the lock was refused
	std  chan struct{}
}

func newBothMutexes() *bothMutexes {
	b := &bothMutexes{queued: make(chan struct{}, 1)}
	tell := &waitingObserver{do: func() { b.queued <- struct{}{} }}
	b.ours = pathlock.New(memstore.New(), quiet, pathlock.WithObserver(tell)).RWMutex("m")
	return b
}

// agree fails the test unless both mutexes were granted or both were refused.
func agree(t *rapid.T, err error, std bool) (granted bool) {
	t.Helper()
	if (err == nil) != std || err != nil && !errors.Is(err, pathlock.ErrConflict) {
		t.Fatalf("ours: %v; the standard library's was granted: %v", err, std)
	}
	return std
}

func (b *bothMutexes) tryLock(t *rapid.T) {
	lock, err := b.ours.TryLock(t.Context())
	if agree(t, err, b.std.TryLock()) {
		b.writer = lock
	}
}

func (b *bothMutexes) tryRLock(t *rapid.T) {
	lock, err := b.ours.TryRLock(t.Context())
	if agree(t, err, b.std.TryRLock()) {
		b.readers = append(b.readers, lock)
	}
}

// lockBehindReaders has a writer queue in both mutexes.
func (b *bothMutexes) lockBehindReaders(t *rapid.T) {
	if len(b.readers) == 0 || b.pending != nil {
		t.Skip("nobody reads, or a writer waits already")
	}
	p := &pendingWriters{ours: make(chan *pathlock.Lock, 1), std: make(chan struct{})}
	b.pending = p
	go func() {
		lock, err := b.ours.Lock(context.Background())
		if err != nil {
			lock = nil
		}
		p.ours <- lock
	}()
	<-b.queued
	go func() {
		b.std.Lock()
		close(p.std)
	}()
	for b.std.TryRLock() { // it tells nobody when its writer has queued
		b.std.RUnlock()
	}
}

// rUnlock ends the read lock at an index. The last one lets the pending writers in.
func (b *bothMutexes) rUnlock(t *rapid.T, i int) {
	b.std.RUnlock()
	if err := b.readers[i].Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.readers = slices.Delete(b.readers, i, i+1)
	if len(b.readers) > 0 || b.pending == nil {
		return
	}
	<-b.pending.std
	b.writer, b.pending = <-b.pending.ours, nil
	if b.writer == nil {
		t.Fatal("the pending writer was refused")
	}
}

func (b *bothMutexes) unlock(t *rapid.T) {
	if b.writer == nil {
		t.Skip("nobody writes")
	}
	b.std.Unlock()
	if err := b.writer.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.writer = nil
}

// An RWMutex grants and refuses what that of the standard library does, also while a writer waits.
func TestAnRWMutexAgreesWithThatOfTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBothMutexes()
		t.Repeat(map[string]func(*rapid.T){
			"TryLock":             b.tryLock,
			"TryRLock":            b.tryRLock,
			"Lock behind readers": b.lockBehindReaders,
			"Unlock":              b.unlock,
			"RUnlock": func(t *rapid.T) {
				if len(b.readers) == 0 {
					t.Skip("nobody reads")
				}
				b.rUnlock(t, rapid.IntRange(0, len(b.readers)-1).Draw(t, "reader"))
			},
		})
		for len(b.readers) > 0 {
			b.rUnlock(t, 0)
		}
	})
}

// Goroutines of several lockers read and write what a mutex guards: the race detector sees whoever
// comes in beside a writer.
func TestAnRWMutexGuardsWhatGoroutinesShare(t *testing.T) {
	eachStore(t, func(t *testing.T, store pathlock.Store) {
		const workers, turns, names = 8, 25, 2
		var shared [names]struct {
			written          int
			fence            uint64
			readers, writers atomic.Int64
		}
		var work sync.WaitGroup
		for worker := range workers {
			l := pathlock.New(store, quiet)
			work.Go(func() {
				for i := range turns {
					guarded := &shared[i%names]
					m := l.RWMutex(fmt.Sprintf("m%d", i%names))
					if (worker+i/names)%2 == 0 {
						lock, err := m.RLock(t.Context())
						if err != nil {
							t.Error(err)
							return
						}
						guarded.readers.Add(1)
						if guarded.writers.Load() > 0 || guarded.fence >= lock.Fence() {
							t.Errorf("a reader with fence %d beside a writer, or after one with fence %d", lock.Fence(), guarded.fence)
						}
						guarded.readers.Add(-1)
						release(t, lock)
						continue
					}
					lock, err := m.Lock(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					if guarded.writers.Add(1) != 1 || guarded.readers.Load() > 0 || guarded.fence >= lock.Fence() {
						t.Errorf("a writer with fence %d beside another owner, or after fence %d", lock.Fence(), guarded.fence)
					}
					guarded.written++
					guarded.fence = lock.Fence()
					guarded.writers.Add(-1)
					release(t, lock)
				}
			})
		}
		work.Wait()
		written := 0
		for i := range shared {
			written += shared[i].written
		}
		if want := workers * turns / 2; written < want-workers || written > want+workers {
			t.Errorf("%d writes of about %d", written, want)
		}
		if trees, err := store.Trees(t.Context()); err != nil || len(trees) != 0 {
			t.Errorf("left behind: %v, %v", trees, err)
		}
	})
}

// renewals counts the renewals of each tree.
type renewals struct {
	pathlock.Store
	mu    sync.Mutex
	of    map[pathlock.Tree]int
	trees int // how many trees are awaited
	times int // how often
	done  chan struct{}
}

func (r *renewals) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	lost, err := r.Store.Renew(ctx, tree, leases)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of[tree]++; r.of[tree] == r.times {
		if r.trees--; r.trees == 0 {
			close(r.done)
		}
	}
	return lost, err
}

// A process may hold many mutexes for long: all of them are renewed, past the first lease.
func TestAProcessHoldsManyMutexes(t *testing.T) {
	eachStore(t, func(t *testing.T, store pathlock.Store) {
		const many = 300
		counted := &renewals{Store: store, of: map[pathlock.Tree]int{}, trees: many, times: 4, done: make(chan struct{})}
		l := pathlock.New(counted, quiet, pathlock.WithLease(3*time.Second))
		var held []*pathlock.Lock
		for i := range many {
			held = append(held, locked(t.Context(), t, l.Mutex(fmt.Sprint(i)).TryLock))
		}
		select {
		case <-counted.done: // four thirds of a lease after the last grant
		case <-time.After(30 * time.Second):
			t.Fatal("some are not renewed")
		}
		for i, lock := range held {
			if lock.Context().Err() != nil {
				t.Fatalf("the mutex %d of %d was lost: %v", i, many, context.Cause(lock.Context()))
			}
			release(t, lock)
		}
	})
}
