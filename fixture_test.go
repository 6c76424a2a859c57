package pathlock_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

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

func (*watched) Local() bool { return false }

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

// releaseBy has f asked before releases from now on.
func (w *watched) releaseBy(f func() error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.onRelease = f
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
	w.mu.Lock()
	onRelease := w.onRelease
	w.mu.Unlock()
	if onRelease != nil {
		if err := onRelease(); err != nil {
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

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestValidateRefusesWhatNoLockerSends(t *testing.T) {
	valid := pathlock.Acquisition{
		Tree: tree(t, "plan"), Owner: "owner", Grant: "grant", Lease: time.Second,
		Claims: claims(t, "X /a"),
	}
	for says, spoil := range map[string]func(*pathlock.Acquisition){
		"no tree":                 func(a *pathlock.Acquisition) { a.Tree = pathlock.Tree{} },
		"no owner":                func(a *pathlock.Acquisition) { a.Owner = "" },
		"no grant id":             func(a *pathlock.Acquisition) { a.Grant = "" },
		"lease":                   func(a *pathlock.Acquisition) { a.Lease = 0 },
		"apart from none":         func(a *pathlock.Acquisition) { a.Apart = true },
		"neither claims":          func(a *pathlock.Acquisition) { a.Claims = nil },
		"the mode Mode(6) of /":   func(a *pathlock.Acquisition) { a.Claims = []pathlock.Claim{{Mode: 6}} },
		"the mode none of /dir/x": func(a *pathlock.Acquisition) { a.Claims = []pathlock.Claim{{Path: pathlock.MustParsePath("/dir/x")}} },
	} {
		a := valid
		spoil(&a)
		if err := a.Validate(); !errors.Is(err, pathlock.ErrInvalidRequest) || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
}
