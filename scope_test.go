package pathlock_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestReentryAsksNoStoreForWhatIsHeld(t *testing.T) {
	for _, tt := range []struct {
		held, asked string
		local       bool
	}{
		{"gate", "X /a, S /b", true},
		{"X /a", "X /a", true},
		{"X /a", "IX /a/b/c", true},
		{"X /a", "X /a/b, S /a/c", true},
		{"X /a", "IX /", true},
		{"S /a", "IS /a/b", true},
		{"SIX /a", "S /a/b", true},
		{"X /a", "X /ab", false},
		{"X /a/b", "X /a", false},
		{"S /a", "IX /a/b", false},
		{"SIX /a", "IX /a/b", false},
		{"X /a", "X /a/b, X /b", false},
		{"IX /a", "IX /a/b", false},
	} {
		t.Run(tt.held+" then "+tt.asked, func(t *testing.T) {
			l, store := newLocker()
			outer := acquire(t.Context(), t, l, tt.held)
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

func TestReentry_lastReleaseReleases(t *testing.T) {
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

// Between a gate and a node, the root is where two conflict.
func TestGate_conflictsAtTheRoot(t *testing.T) {
	l, _ := newLocker()
	for _, tt := range []struct {
		held, asked string
		mode        pathlock.Mode
	}{
		{"X /a", "gate", pathlock.ModeIX},
		{"gate", "X /a", pathlock.ModeX},
	} {
		lock, asked := acquire(t.Context(), t, l, tt.held), request(t, tt.asked)
		snapshot, err := l.Snapshot(t.Context(), lock.Tree())
		testerr.Must(t, err)
		found := snapshot.InTheWay("", asked.Gate, asked.Claims)
		if len(found) != 1 || !found[0].Path.IsRoot() || found[0].Mode != tt.mode {
			t.Errorf("in the way: %+v, want %v at the root", found, tt.mode)
		}
		release(t, lock)
	}
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
func TestMutex_workersUnderALockExcludeEachOther(t *testing.T) {
	l, _ := newLocker()
	for name, outer := range map[string]func() (*pathlock.Lock, error){
		"a mutex": func() (*pathlock.Lock, error) { return l.Mutex("job").Lock(t.Context()) },
		"a tree":  func() (*pathlock.Lock, error) { return l.Acquire(t.Context(), request(t, "X /a")) },
	} {
		t.Run(name, func(t *testing.T) {
			job, err := outer()
			testerr.Must(t, err)
			defer release(t, job)
			first, err := l.Mutex("account").Lock(job.Context())
			testerr.Must(t, err)
			if _, err := l.Mutex("account").TryLock(job.Context()); !errors.Is(err, pathlock.ErrConflict) {
				t.Errorf("a second worker gets %v, want a conflict", err)
			}
			again, err := l.Mutex("account").TryLock(first.Context())
			testerr.MustBe(t, "the first worker again", err, nil)
			release(t, again)
			release(t, first)
		})
	}
}

// Who attaches the hold of a mutex has the mutex.
func TestMutex_reentersItsAttachedHold(t *testing.T) {
	l, _ := newLocker()
	lock, err := l.Mutex("job").Lock(t.Context())
	testerr.Must(t, err)
	token, err := lock.Detach(t.Context())
	testerr.Must(t, err)
	lock = attach(t, l, token)
	again, err := l.Mutex("job").TryLock(lock.Context())
	testerr.Must(t, err)
	release(t, again)
	release(t, lock)
}

// The context of a mutex leaves the locks of the request around it where they are.
func TestMutex_keepsTheOuterLocksHeld(t *testing.T) {
	l, store := newLocker()
	outer := acquire(t.Context(), t, l, "X /a")
	defer release(t, outer)
	mutex, err := l.Mutex("cache").Lock(outer.Context())
	testerr.Must(t, err)
	defer release(t, mutex)
	store.called()
	inner := acquire(mutex.Context(), t, l, "X /a/b")
	release(t, inner)
	if calls := store.called(); len(calls) > 0 {
		t.Errorf("what the request holds was asked for again: %q", calls)
	}
	testerr.None(t, context.Cause(mutex.Context()))
}

// A lock and its release under one that covers it.
func BenchmarkReentry(b *testing.B) {
	for _, bench := range []struct {
		name        string
		held, asked int
	}{
		{"X 1 deep, asked 3 deep", 1, 3},
		{"X 1 deep, asked 15 deep", 1, 15},
		{"X 14 deep, asked 15 deep", 14, 15},
		{"the same node, 3 deep", 3, 3},
		{"the same node, 15 deep", 15, 15},
	} {
		b.Run(bench.name, func(b *testing.B) {
			l := pathlock.New(memstore.New())
			outer, err := l.Acquire(b.Context(), asking(b, bench.held))
			testerr.Must(b, err)
			ctx, req := outer.Context(), asking(b, bench.asked)
			b.ReportAllocs()
			for b.Loop() {
				lock, err := l.Acquire(ctx, req)
				testerr.Must(b, err)
				testerr.Must(b, lock.Release(ctx))
			}
			release(b, outer)
		})
	}
}

// asking is a request for a node that lies so deep.
func asking(b *testing.B, depth int) pathlock.Request {
	b.Helper()
	tree, err := pathlock.NewTree("testplan", "plan-001")
	testerr.Must(b, err)
	return pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath(strings.Repeat("/node", depth)))}}
}
