package pathlock_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// watched is a store whose calls are counted, and can be made to fail.
type watched struct {
	pathlock.Store
	mu    sync.Mutex
	calls []string
	// onRenew, if set, answers renewals in place of the store.
	onRenew func(tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error)
	// onRelease, if set, is asked before a release.
	onRelease func() error
}

func (w *watched) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, fmt.Sprintf(format, args...))
}

// renewBy makes f answer renewals from now on.
func (w *watched) renewBy(f func(tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.onRenew = f
}

// called returns the calls since the last time.
func (w *watched) called() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.calls
	w.calls = nil
	return calls
}

func (w *watched) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	w.note("acquire %s", written(req.Claims))
	return w.Store.Acquire(ctx, req)
}

func (w *watched) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	w.note("release")
	if w.onRelease != nil {
		if err := w.onRelease(); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return w.Store.Release(ctx, tree, owner, id)
}

func (w *watched) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	w.note("renew %d in %s", len(leases), tree.ID())
	w.mu.Lock()
	onRenew := w.onRenew
	w.mu.Unlock()
	if onRenew != nil {
		return onRenew(tree, leases)
	}
	return w.Store.Renew(ctx, tree, leases)
}

var quiet = pathlock.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))

func newLocker(opts ...pathlock.Option) (*pathlock.Locker, *watched) {
	store := &watched{Store: memstore.New()}
	return pathlock.New(store, append([]pathlock.Option{quiet}, opts...)...), store
}

func tree(t testing.TB, id string) pathlock.Tree {
	t.Helper()
	tr, err := pathlock.NewTree("test", id)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func request(t testing.TB, text string) pathlock.Request {
	t.Helper()
	return pathlock.Request{Tree: tree(t, "plan"), Claims: claims(t, text), Wait: pathlock.NoWait, Note: text}
}

func acquire(ctx context.Context, t testing.TB, l *pathlock.Locker, text string) *pathlock.Lock {
	t.Helper()
	lock, err := l.Acquire(ctx, request(t, text))
	if err != nil {
		t.Fatalf("acquire %s: %v", text, err)
	}
	return lock
}

func release(t testing.TB, lock *pathlock.Lock) {
	t.Helper()
	if err := lock.Release(t.Context()); err != nil {
		t.Fatalf("release: %v", err)
	}
}

// free fails the test unless somebody else could have the claims now.
func free(t testing.TB, l *pathlock.Locker, text string, want bool) {
	t.Helper()
	lock, err := l.Acquire(context.WithoutCancel(t.Context()), request(t, text))
	if (err == nil) != want {
		t.Fatalf("%s is free for others: %v, want %v (%v)", text, err == nil, want, err)
	}
	if err == nil {
		release(t, lock)
	} else if !errors.Is(err, pathlock.ErrConflict) {
		t.Fatalf("%s: %v, want ErrConflict", text, err)
	}
}

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

func TestNamesThatFoldAlikeMeet(t *testing.T) {
	l, _ := newLocker()
	lock := acquire(t.Context(), t, l, "X /Plan/Login")
	_, err := l.Acquire(t.Context(), request(t, "X /plan/LOGIN/Sub"))
	conflict, ok := errors.AsType[*pathlock.ConflictError](err)
	if !ok {
		t.Fatalf("error %v, want a ConflictError", err)
	}
	if got := conflict.Path.String(); got != "/plan/LOGIN" {
		t.Errorf("the error names %q, want the path as the caller wrote it", got)
	}
	if conflict.Mode != pathlock.ModeIX || conflict.Blocker.Mode != pathlock.ModeX || conflict.Blocker.Note != "X /Plan/Login" {
		t.Errorf("the error says %+v", conflict)
	}
	release(t, lock)

	exact, _ := newLocker(pathlock.WithFold(pathlock.FoldNothing))
	lock = acquire(t.Context(), t, exact, "X /a")
	free(t, exact, "X /A", true)
	release(t, lock)
}

func TestAFoldThatMakesNoNameIsRefused(t *testing.T) {
	for _, made := range []string{"", "a/b", ".."} {
		l, store := newLocker(pathlock.WithFold(func(string) string { return made }))
		_, err := l.Acquire(t.Context(), request(t, "X /n"))
		if !errors.Is(err, pathlock.ErrInvalidPath) || len(store.called()) != 0 {
			t.Errorf("a fold to %q: %v", made, err)
		}
	}
}

func TestRequestsThatMakeNoSenseAreRefusedBeforeTheStore(t *testing.T) {
	valid := request(t, "X /a")
	for _, tt := range []struct {
		what  string
		spoil func(*pathlock.Request)
		want  error
		says  string
	}{
		{"no tree", func(r *pathlock.Request) { r.Tree = pathlock.Tree{} }, pathlock.ErrInvalidTree, "no tree"},
		{"nothing asked for", func(r *pathlock.Request) { r.Claims = nil }, pathlock.ErrInvalidRequest, "neither claims nor the gate"},
		{"no mode", func(r *pathlock.Request) { r.Claims = []pathlock.Claim{{Path: pathlock.MustParsePath("/q")}} }, pathlock.ErrInvalidRequest, `"/q"`},
		{"unknown mode", func(r *pathlock.Request) { r.Claims = []pathlock.Claim{{Mode: 77}} }, pathlock.ErrInvalidRequest, "mode"},
		{"negative wait", func(r *pathlock.Request) { r.Wait = -2 }, pathlock.ErrInvalidRequest, "wait"},
		{"negative lease", func(r *pathlock.Request) { r.Lease = -time.Second }, pathlock.ErrInvalidRequest, "lease"},
		{"lease too short", func(r *pathlock.Request) { r.Lease = time.Millisecond }, pathlock.ErrInvalidRequest, "10ms"},
		{"note too long", func(r *pathlock.Request) { r.Note = strings.Repeat("x", pathlock.MaxNoteBytes+1) }, pathlock.ErrInvalidRequest, "513 bytes"},
		{"note not UTF-8", func(r *pathlock.Request) { r.Note = "\xff" }, pathlock.ErrInvalidRequest, "UTF-8"},
		{"too many claims", func(r *pathlock.Request) { r.Claims = make([]pathlock.Claim, pathlock.MaxNodes+1) }, pathlock.ErrInvalidRequest, "4097"},
		{"too many nodes", func(r *pathlock.Request) {
			r.Claims = nil
			for i := range 2049 {
				r.Claims = append(r.Claims, pathlock.X(pathlock.MustParsePath(fmt.Sprintf("/p%d/c", i))))
			}
		}, pathlock.ErrInvalidRequest, "4099 nodes"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			l, store := newLocker()
			req := valid
			tt.spoil(&req)
			_, err := l.Acquire(t.Context(), req)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v, want one that matches %q and says %q", err, tt.want, tt.says)
			}
			if calls := store.called(); len(calls) != 0 {
				t.Errorf("the store was asked: %v", calls)
			}
		})
	}
}

func TestReleaseWorksUnderAContextThatHasEnded(t *testing.T) {
	l, _ := newLocker()
	ctx, cancel := context.WithCancel(t.Context())
	lock := acquire(ctx, t, l, "X /a")
	cancel()
	if err := lock.Release(ctx); err != nil {
		t.Fatal(err)
	}
	free(t, l, "X /a", true)
}

func TestASecondReleaseIsAnErrorAndChangesNothing(t *testing.T) {
	l, store := newLocker()
	lock := acquire(t.Context(), t, l, "X /a")
	release(t, lock)
	again := acquire(t.Context(), t, l, "X /a")
	store.called()
	if err := lock.Release(t.Context()); !errors.Is(err, pathlock.ErrNotHeld) {
		t.Errorf("second release: %v, want ErrNotHeld", err)
	}
	if calls := store.called(); len(calls) != 0 {
		t.Errorf("the second release asked the store: %v", calls)
	}
	free(t, l, "X /a", false)
	release(t, again)
}

func TestAcquireUnderAnEndedContextAsksNothing(t *testing.T) {
	l, store := newLocker()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fmt.Errorf("closing time"))
	_, err := l.Acquire(ctx, request(t, "X /a"))
	if err == nil || !strings.Contains(err.Error(), "closing time") || len(store.called()) != 0 {
		t.Errorf("error %v, want the context's cause and no call", err)
	}
}

func TestLeasesAreRenewedAtAThirdBatchedByTreeAndOnlyWhileHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newLocker(pathlock.WithLease(30 * time.Second))
		first := acquire(t.Context(), t, l, "X /a")
		time.Sleep(3 * time.Second)
		second := acquire(t.Context(), t, l, "X /b")
		other, err := l.Acquire(t.Context(), pathlock.Request{Tree: tree(t, "other"), Gate: true})
		if err != nil {
			t.Fatal(err)
		}
		store.called()

		time.Sleep(7*time.Second + time.Millisecond)
		if got, want := store.called(), []string{"renew 2 in plan"}; !slices.Equal(got, want) {
			t.Errorf("after 10 s: %v, want %v", got, want)
		}
		time.Sleep(3 * time.Second)
		if got, want := store.called(), []string{"renew 1 in other"}; !slices.Equal(got, want) {
			t.Errorf("after 13 s: %v, want %v", got, want)
		}
		time.Sleep(time.Hour)
		store.called()
		for _, lock := range []*pathlock.Lock{first, second, other} {
			if err := lock.Context().Err(); err != nil {
				t.Errorf("after an hour: %v", context.Cause(lock.Context()))
			}
			release(t, lock)
		}
		store.called()
		time.Sleep(time.Hour)
		if got := store.called(); len(got) != 0 {
			t.Errorf("the store is still asked after the last release: %v", got)
		}
	})
}

func TestALostLeaseCancelsTheContextsAndIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLocker(pathlock.WithLease(30 * time.Second))
		lock := acquire(t.Context(), t, l, "X /a")
		inner := acquire(lock.Context(), t, l, "X /a/b")
		snapshot, err := l.Snapshot(t.Context(), lock.Tree())
		if err != nil {
			t.Fatal(err)
		}
		if err := l.ForceRelease(t.Context(), lock.Tree(), snapshot.Holders[0].Owner); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10*time.Second + time.Millisecond)
		for _, k := range []*pathlock.Lock{lock, inner} {
			if cause := context.Cause(k.Context()); !errors.Is(cause, pathlock.ErrLost) {
				t.Errorf("cause %v, want ErrLost", cause)
			}
		}
		if _, err := l.Acquire(lock.Context(), request(t, "X /a")); !errors.Is(err, pathlock.ErrLost) {
			t.Errorf("acquire under the lost lock: %v, want ErrLost", err)
		}
		for _, k := range []*pathlock.Lock{inner, lock} {
			if err := k.Release(t.Context()); !errors.Is(err, pathlock.ErrLost) {
				t.Errorf("release of a lost lock: %v, want ErrLost", err)
			}
		}
		// Lost, not broken: the same scope can begin anew.
		again := acquire(l.Scope(lock.Context()).Context(t.Context()), t, l, "X /a")
		release(t, again)
	})
}

// A new grant must not make a scope look alive that has lost what it held.
func TestALossIsNoticedBeforeTheNextGrantHidesIt(t *testing.T) {
	l, _ := newLocker()
	lock := acquire(t.Context(), t, l, "X /a")
	if err := l.ForceRelease(t.Context(), lock.Tree(), l.Scope(lock.Context()).Owner()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Acquire(lock.Context(), request(t, "X /b")); !errors.Is(err, pathlock.ErrLost) {
		t.Errorf("acquire: %v, want ErrLost", err)
	}
	if cause := context.Cause(lock.Context()); !errors.Is(cause, pathlock.ErrLost) {
		t.Errorf("cause %v, want ErrLost", cause)
	}
	if err := lock.Release(t.Context()); !errors.Is(err, pathlock.ErrLost) {
		t.Errorf("release: %v, want ErrLost", err)
	}
	free(t, l, "X /", true)
}

// What the scope let go of itself, while the next request was on its way, is no loss.
func TestAReleaseThatOvertakesAnAcquireIsNoLoss(t *testing.T) {
	store := &overtaken{Store: memstore.New()}
	l := pathlock.New(store, quiet)
	first := acquire(t.Context(), t, l, "X /a")
	store.before = func() {
		store.before = nil
		release(t, first)
	}
	second := acquire(l.Scope(first.Context()).Context(t.Context()), t, l, "X /b")
	free(t, l, "X /a", true)
	free(t, l, "X /b", false)
	release(t, second)
}

// overtaken calls before on the way of an acquisition to the store.
type overtaken struct {
	pathlock.Store
	before func()
}

func (o *overtaken) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	if o.before != nil {
		o.before()
	}
	return o.Store.Acquire(ctx, req)
}

func TestReleaseSaysWhenTheStoreHadLostIt(t *testing.T) {
	l, _ := newLocker()
	lock := acquire(t.Context(), t, l, "X /a")
	snapshot, err := l.Snapshot(t.Context(), lock.Tree())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.ForceRelease(t.Context(), lock.Tree(), snapshot.Holders[0].Owner); err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(t.Context()); !errors.Is(err, pathlock.ErrLost) {
		t.Errorf("release: %v, want ErrLost", err)
	}
}

func TestAStoreThatDoesNotAnswerLosesTheLockWhenTheLeaseEndsAndNotBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newLocker(pathlock.WithLease(30 * time.Second))
		down := fmt.Errorf("%w: connection refused", pathlock.ErrUnavailable)
		lock := acquire(t.Context(), t, l, "X /a")
		store.renewBy(func(pathlock.Tree, []pathlock.Lease) ([]pathlock.Owner, error) { return nil, down })

		time.Sleep(30*time.Second - time.Millisecond)
		if err := lock.Context().Err(); err != nil {
			t.Errorf("lost before the lease ended: %v", context.Cause(lock.Context()))
		}
		if tries := len(store.called()); tries < 4 {
			t.Errorf("%d tries to renew in 20 s of outage", tries)
		}
		time.Sleep(2 * time.Millisecond)
		cause := context.Cause(lock.Context())
		if !errors.Is(cause, pathlock.ErrLost) || !errors.Is(cause, pathlock.ErrUnavailable) {
			t.Errorf("cause %v, want ErrLost because of ErrUnavailable", cause)
		}
		_ = lock.Release(t.Context())
	})
}

func TestAnOutageThatEndsInTimeLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newLocker(pathlock.WithLease(30 * time.Second))
		lock := acquire(t.Context(), t, l, "X /a")
		begun := time.Now()
		store.renewBy(func(tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
			if time.Since(begun) < 20*time.Second {
				return nil, pathlock.ErrUnavailable
			}
			return store.Store.Renew(t.Context(), tree, leases)
		})
		time.Sleep(10 * time.Minute)
		if err := lock.Context().Err(); err != nil {
			t.Errorf("lost: %v", context.Cause(lock.Context()))
		}
		free(t, l, "X /a", false)
		release(t, lock)
	})
}

// The answer to a renewal that was under way while the scope let go of everything and took
// something else must not be taken for the loss of the latter.
func TestARenewalThatCrossesAReleaseIsNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newLocker(pathlock.WithLease(30 * time.Second))
		scope := l.Scope(t.Context())
		first := acquire(scope.Context(t.Context()), t, l, "X /a")
		second := acquire(scope.Context(t.Context()), t, l, "X /keep")
		asked, answer := make(chan struct{}), make(chan struct{})
		store.renewBy(func(_ pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
			close(asked)
			<-answer
			return []pathlock.Owner{leases[0].Owner}, nil
		})
		<-asked
		third := acquire(scope.Context(t.Context()), t, l, "X /b")
		release(t, first)
		release(t, second)
		close(answer)
		synctest.Wait()
		if err := third.Context().Err(); err != nil {
			t.Errorf("the new lock was called lost: %v", context.Cause(third.Context()))
		}
		store.renewBy(nil)
		release(t, third)
	})
}

func TestAReleaseThatFailsIsReportedAndNotRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newLocker(pathlock.WithLease(30 * time.Second))
		lock := acquire(t.Context(), t, l, "X /a")
		store.onRelease = func() error { return fmt.Errorf("%w: timeout", pathlock.ErrUnavailable) }
		if err := lock.Release(t.Context()); !errors.Is(err, pathlock.ErrUnavailable) {
			t.Errorf("release: %v, want ErrUnavailable", err)
		}
		store.onRelease = nil
		free(t, l, "X /a", false)
		time.Sleep(30*time.Second + time.Millisecond)
		free(t, l, "X /a", true)
	})
}

func TestDefaultsOfWaitAndLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLocker(pathlock.WithWait(3 * time.Second))
		lock := acquire(t.Context(), t, l, "X /a")
		begun := time.Now()
		req := request(t, "X /a")
		req.Wait = 0
		_, err := l.Acquire(t.Context(), req)
		conflict, ok := errors.AsType[*pathlock.ConflictError](err)
		if !ok || time.Since(begun) != 3*time.Second || conflict.Waited != 3*time.Second {
			t.Errorf("waited %v: %v", time.Since(begun), err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		begun = time.Now()
		_, err = l.Acquire(ctx, req)
		if !errors.Is(err, pathlock.ErrConflict) || !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Second {
			t.Errorf("under a deadline, waited %v: %v", time.Since(begun), err)
		}
		release(t, lock)
	})
}

// journal writes down what it is told.
type journal struct {
	pathlock.NopObserver
	mu     sync.Mutex
	events []string
}

func (j *journal) add(what string, e pathlock.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	line := what + " " + written(e.Claims)
	if e.Reentrant {
		line += " (re-entrant)"
	}
	if e.Err != nil {
		line += ": error"
	}
	j.events = append(j.events, line)
}

func (j *journal) Acquiring(ctx context.Context, e pathlock.Event) context.Context {
	j.add("acquiring", e)
	return ctx
}
func (j *journal) Waiting(_ context.Context, e pathlock.Event)  { j.add("waiting", e) }
func (j *journal) Granted(_ context.Context, e pathlock.Event)  { j.add("granted", e) }
func (j *journal) Refused(_ context.Context, e pathlock.Event)  { j.add("refused", e) }
func (j *journal) Released(_ context.Context, e pathlock.Event) { j.add("released", e) }
func (j *journal) Lost(_ context.Context, e pathlock.Event)     { j.add("lost", e) }

func TestObserversSeeEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		l, _ := newLocker(pathlock.WithObserver(j), pathlock.WithObserver(pathlock.NopObserver{}))
		lock := acquire(t.Context(), t, l, "X /a")
		inner := acquire(lock.Context(), t, l, "S /a")
		_, _ = l.Acquire(t.Context(), request(t, "X /a"))
		waited := request(t, "IX /a")
		waited.Wait = time.Second
		_, _ = l.Acquire(t.Context(), waited)
		release(t, inner)
		release(t, lock)
		lost := acquire(t.Context(), t, l, "X /b")
		if err := l.ForceRelease(t.Context(), lost.Tree(), l.Scope(lost.Context()).Owner()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(pathlock.DefaultLease)
		_ = lost.Release(t.Context())

		want := []string{
			"acquiring X /a", "granted X /a", "granted S /a (re-entrant)",
			"acquiring X /a", "refused X /a: error",
			"acquiring IX /a", "waiting IX /a", "refused IX /a: error",
			"released S /a (re-entrant)", "released X /a",
			"acquiring X /b", "granted X /b", "lost X /b: error", "released X /b: error",
		}
		if !slices.Equal(j.events, want) {
			t.Errorf("seen:\n\t%s\nwant:\n\t%s", strings.Join(j.events, "\n\t"), strings.Join(want, "\n\t"))
		}
	})
}

func TestOwnersAreNeverShownWhole(t *testing.T) {
	var log strings.Builder
	l := pathlock.New(memstore.New(), pathlock.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	req := request(t, "X /a")
	req.Note = ""
	lock, err := l.Acquire(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	_, conflict := l.Acquire(t.Context(), req)
	owner := l.Scope(lock.Context()).Owner()
	release(t, lock)
	if shown := log.String() + conflict.Error(); strings.Contains(shown, string(owner)) || !strings.Contains(shown, owner.Short()) {
		t.Errorf("the owner %s is shown whole, or not at all, in:\n%s", owner, shown)
	}
}

// Many goroutines, some of which share scopes, on few nodes: nobody may ever be
// where another owner has X, and nothing may be left in the end.
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
