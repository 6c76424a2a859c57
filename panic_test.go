package pathlock_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// calling is an observer that calls fail in one of its methods.
type calling struct {
	pathlock.NopObserver
	method string
	fail   func()
}

func (o calling) at(method string) {
	if o.method == method {
		o.fail()
	}
}

func (o calling) Acquiring(ctx context.Context, _ pathlock.Event) context.Context {
	o.at("Acquiring")
	return ctx
}
func (o calling) Waiting(context.Context, pathlock.Event)  { o.at("Waiting") }
func (o calling) Granted(context.Context, pathlock.Event)  { o.at("Granted") }
func (o calling) Refused(context.Context, pathlock.Event)  { o.at("Refused") }
func (o calling) Lost(context.Context, pathlock.Event)     { o.at("Lost") }
func (o calling) Released(context.Context, pathlock.Event) { o.at("Released") }
func (o calling) Step(ctx context.Context, _ pathlock.Step) (context.Context, func(error)) {
	o.at("Step")
	return ctx, func(error) { o.at("done") }
}

// ledger is a store that counts what it grants and what it is given back.
type ledger struct {
	pathlock.Store
	mu       sync.Mutex
	granted  int
	released int
	changed  *sync.Cond
}

func newLedger() *ledger {
	l := &ledger{Store: memstore.New()}
	l.changed = sync.NewCond(&l.mu)
	return l
}

// Local makes releases in the background be such.
func (l *ledger) Local() bool { return false }

func (l *ledger) Acquire(ctx context.Context, a pathlock.Acquisition) (pathlock.Grant, error) {
	g, err := l.Store.Acquire(ctx, a)
	if err == nil {
		l.count(&l.granted)
	}
	return g, err
}

func (l *ledger) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	err := l.Store.Release(ctx, tree, owner, id)
	if err == nil {
		l.count(&l.released)
	}
	return err
}

func (l *ledger) count(n *int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*n++
	l.changed.Broadcast()
}

// balanced waits until everything granted has been given back, and says so if it was not once.
func (l *ledger) balanced(t *testing.T) {
	t.Helper()
	timeout := time.AfterFunc(10*time.Second, func() { l.changed.Broadcast() })
	defer timeout.Stop()
	began := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.granted != l.released && time.Since(began) < 10*time.Second {
		l.changed.Wait()
	}
	if l.granted != l.released || l.granted == 0 {
		t.Errorf("%d grants were made, and %d given back", l.granted, l.released)
	}
}

// aside runs f on a goroutine of its own, which may panic or exit, and waits for its end.
func aside(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }()
		f()
	}()
	<-done
}

// Whichever method of an observer panics, or leaves its goroutine, what was granted is given back
// once, and others get it.
func TestObserverThatFailsKeepsNothingLocked(t *testing.T) {
	failures := map[string]func(){"panic": func() { panic("in an observer") }, "exit": runtime.Goexit}
	uses := map[string]func(t *testing.T, l *pathlock.Locker){
		"release": func(t *testing.T, l *pathlock.Locker) {
			aside(func() { release(t, acquire(t.Context(), t, l, "X /a")) })
		},
		"release in the background": func(t *testing.T, l *pathlock.Locker) {
			aside(func() { acquire(t.Context(), t, l, "X /a").ReleaseInBackground(t.Context()) })
			_ = l.Shutdown(t.Context())
		},
		"re-entry": func(t *testing.T, l *pathlock.Locker) {
			aside(func() {
				outer := acquire(t.Context(), t, l, "X /a")
				defer outer.ReleaseInBackground(t.Context())
				release(t, acquire(outer.Context(), t, l, "X /a/b"))
			})
		},
		"a wait, and a refusal": func(t *testing.T, l *pathlock.Locker) {
			aside(func() {
				outer := acquire(t.Context(), t, l, "X /a")
				defer outer.ReleaseInBackground(t.Context())
				req := request(t, "X /a")
				req.Wait = time.Millisecond
				if _, err := l.Acquire(t.Context(), req); !errors.Is(err, pathlock.ErrConflict) {
					t.Errorf("not refused: %v", err)
				}
			})
		},
	}
	for how, fail := range failures {
		for _, method := range []string{"Acquiring", "Waiting", "Granted", "Refused", "Released", "Step", "done"} {
			for use, run := range uses {
				t.Run(fmt.Sprintf("%s in %s/%s", how, method, use), func(t *testing.T) {
					store := newLedger()
					l := pathlock.New(store, quiet, pathlock.WithObserver(calling{method: method, fail: fail}))
					run(t, l)
					if how == "exit" && store.granted == 0 {
						return // the goroutine left before it had anything
					}
					store.balanced(t)
					if trees, err := store.Trees(t.Context()); err != nil || len(trees) > 0 {
						t.Errorf("somebody still holds or waits in %v, %v", trees, err)
					}
				})
			}
		}
	}
}

// A loss is noticed in the background, where a panic would end the program: every lock's context
// ends, and the other observers are told.
func TestObserverThatPanicsAtALossKeepsNobodyUninformed(t *testing.T) {
	told := make(chan string, 2)
	l, store := newLocker(
		pathlock.WithObserver(calling{method: "Lost", fail: func() { panic("in an observer") }}),
		pathlock.WithObserver(calling{method: "Lost", fail: func() { told <- "lost" }}))
	store.renewBy(func(_ pathlock.Tree, leases []pathlock.Lease) (lost []pathlock.Owner, _ error) {
		return []pathlock.Owner{leases[0].Owner}, nil
	})
	req := request(t, "X /a")
	req.Lease = pathlock.MinLease
	outer, err := l.Acquire(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	inner := acquire(outer.Context(), t, l, "X /a/b")
	<-outer.Context().Done()
	<-inner.Context().Done()
	for range 2 {
		<-told
	}
	for _, lock := range []*pathlock.Lock{inner, outer} {
		if err := lock.Release(t.Context()); !errors.Is(err, pathlock.ErrLost) {
			t.Errorf("the release says %v", err)
		}
	}
}

// failing is a store of which one method panics, after it has done its work or before.
type failing struct {
	*ledger
	method string
	after  bool
}

func (f failing) at(method string, after bool) {
	if f.method == method && f.after == after {
		panic("in the store")
	}
}

func (f failing) Acquire(ctx context.Context, a pathlock.Acquisition) (pathlock.Grant, error) {
	f.at("Acquire", false)
	g, err := f.ledger.Acquire(ctx, a)
	f.at("Acquire", true)
	return g, err
}

func (f failing) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	f.at("Release", false)
	err := f.ledger.Release(ctx, tree, owner, id)
	f.at("Release", true)
	return err
}

func (f failing) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	f.at("Renew", false)
	return f.ledger.Renew(ctx, tree, leases)
}

func TestStoreThatPanicsHasFailed(t *testing.T) {
	t.Run("in Acquire", func(t *testing.T) {
		for _, after := range []bool{false, true} {
			store := newLedger()
			l := pathlock.New(failing{store, "Acquire", after}, quiet)
			panicked := any(nil)
			func() {
				defer func() { panicked = recover() }()
				acquire(t.Context(), t, l, "X /a")
			}()
			if panicked == nil {
				t.Error("the panic was swallowed")
			}
			if store.granted != store.released {
				t.Errorf("%d grants were made, and %d given back", store.granted, store.released)
			}
		}
	})
	t.Run("in Release", func(t *testing.T) {
		for _, after := range []bool{false, true} {
			l := pathlock.New(failing{newLedger(), "Release", after}, quiet, pathlock.WithLease(pathlock.MinLease))
			lock := acquire(t.Context(), t, l, "X /a")
			if err := lock.Release(t.Context()); !errors.Is(err, pathlock.ErrUnavailable) {
				t.Errorf("the release says %v", err)
			}
			acquire(t.Context(), t, l, "X /b").ReleaseInBackground(t.Context())
			if err := l.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("in Renew", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := pathlock.New(failing{newLedger(), "Renew", false}, quiet)
			req := request(t, "X /a")
			req.Lease = pathlock.MinLease
			lock, err := l.Acquire(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			<-lock.Context().Done()
			if cause := context.Cause(lock.Context()); !errors.Is(cause, pathlock.ErrLost) || !errors.Is(cause, pathlock.ErrUnavailable) {
				t.Errorf("the lock ends with %v", cause)
			}
		})
	})
}

// hostile is a log handler that panics.
type hostile struct{ slog.Handler }

func (hostile) Enabled(context.Context, slog.Level) bool { return true }
func (hostile) Handle(context.Context, slog.Record) error {
	panic("in the log")
}

func TestLogThatPanicsKeepsNothingLocked(t *testing.T) {
	store := newLedger()
	l := pathlock.New(store, pathlock.WithLogger(slog.New(hostile{})), pathlock.WithObserver(calling{method: "Granted", fail: func() { panic("in an observer") }}))
	outer := acquire(t.Context(), t, l, "X /a")
	release(t, acquire(outer.Context(), t, l, "X /a/b"))
	release(t, outer)
	store.balanced(t)
}

// The reason that an abandoned lock's context ends with is for those who work under it.
func TestAbandonedLockEndsWithItsReason(t *testing.T) {
	l, _ := newLocker()
	why := errors.New("enough")
	outer := acquire(t.Context(), t, l, "X /a")
	inner := acquire(outer.Context(), t, l, "X /a/b")
	outer.Abandon(t.Context(), why)
	for name, ctx := range map[string]context.Context{"the lock's": outer.Context(), "an inner lock's": inner.Context()} {
		if ctx.Err() == nil || !errors.Is(context.Cause(ctx), why) {
			t.Errorf("%s context ends with %v, %v", name, ctx.Err(), context.Cause(ctx))
		}
	}
	free(t, l, "X /a", false)
	release(t, inner)
	free(t, l, "X /a", true)
	if err := outer.Release(t.Context()); !errors.Is(err, pathlock.ErrNotHeld) {
		t.Errorf("released once more: %v", err)
	}
}

// A store tells of an ended context by its error; why it ended is for the caller to know, too.
func TestInterruptedWaitTellsTheContextsCause(t *testing.T) {
	l, store := newLocker()
	defer release(t, acquire(t.Context(), t, l, "X /a"))
	why := errors.New("enough")
	ctx, end := context.WithCancelCause(t.Context())
	store.Store = bare{store.Store, func() { end(why) }}
	req := request(t, "X /a")
	req.Wait = time.Minute
	_, err := l.Acquire(ctx, req)
	if !errors.Is(err, why) || !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted with %v", err)
	}
	if !slices.Contains(store.called(), "acquire IX /, X /a") {
		t.Error("the store was not asked")
	}
}

// bare is a store that says of an ended context nothing but its error.
type bare struct {
	pathlock.Store
	end func()
}

func (b bare) Acquire(ctx context.Context, _ pathlock.Acquisition) (pathlock.Grant, error) {
	b.end()
	return pathlock.Grant{}, fmt.Errorf("bare: %w", ctx.Err())
}
