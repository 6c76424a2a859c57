package pathlock_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// watched is a store whose calls are counted, and can be made to fail.
type watched struct {
	pathlock.Store
	mu    sync.Mutex
	calls []string
	hooks hooks
}

// hooks are asked before the store, if they are set. What fails there does not reach it.
type hooks struct {
	acquire, release, transfer func(context.Context) error
	// renew answers in place of the store.
	renew func(leases []pathlock.Lease) ([]pathlock.Owner, error)
}

func (*watched) Local() bool { return false }

// hook sets all hooks, from now on.
func (w *watched) hook(h hooks) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hooks = h
}

// down returns hooks that fail with an error, but for acquisitions.
func down(err error) hooks {
	fail := func(context.Context) error { return err }
	renew := func([]pathlock.Lease) ([]pathlock.Owner, error) { return nil, err }
	return hooks{release: fail, transfer: fail, renew: renew}
}

// note writes a call down, and returns the hooks.
func (w *watched) note(format string, args ...any) hooks {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, fmt.Sprintf(format, args...))
	return w.hooks
}

// called returns the calls since the last time.
func (w *watched) called() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.calls
	w.calls = nil
	return calls
}

// ask asks a hook.
func ask(ctx context.Context, hook func(context.Context) error) error {
	if hook == nil {
		return nil
	}
	return hook(ctx)
}

func (w *watched) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	h := w.note("acquire %s", written(req.Claims))
	if err := ask(ctx, h.acquire); err != nil {
		return pathlock.Grant{}, err
	}
	return w.Store.Acquire(ctx, req)
}

func (w *watched) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	h := w.note("release")
	if err := cmp.Or(ask(ctx, h.release), ctx.Err()); err != nil {
		return err
	}
	return w.Store.Release(ctx, tree, owner, id)
}

func (w *watched) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	if h := w.note("renew %d in %s", len(leases), tree.ID()); h.renew != nil {
		return h.renew(leases)
	}
	return w.Store.Renew(ctx, tree, leases)
}

func (w *watched) Transfer(ctx context.Context, tr pathlock.Transfer) (pathlock.Transferred, error) {
	if err := ask(ctx, w.note("transfer").transfer); err != nil {
		return pathlock.Transferred{}, err
	}
	return w.Store.Transfer(ctx, tr)
}

var quiet = pathlock.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))

func newLocker(opts ...pathlock.Option) (*pathlock.Locker, *watched) {
	store := &watched{Store: memstore.New()}
	return pathlock.New(store, append([]pathlock.Option{quiet}, opts...)...), store
}

func tree(t testing.TB, id string) pathlock.Tree {
	t.Helper()
	tr, err := pathlock.NewTree("test", id)
	testerr.Must(t, err)
	return tr
}

// request returns a request for claims, or for the gate.
func request(t testing.TB, text string) pathlock.Request {
	t.Helper()
	req := pathlock.Request{Tree: tree(t, "plan"), Wait: pathlock.NoWait, Note: text, Gate: text == "gate"}
	if !req.Gate {
		req.Claims = claims(t, text)
	}
	return req
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
	testerr.MustBe(t, "release", lock.Release(t.Context()), nil)
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

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
