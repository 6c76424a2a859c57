package pathlock_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

var quiet = pathlock.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))

func newLocker(opts ...pathlock.Option) (*pathlock.Locker, *testlock.Watched) {
	store := &testlock.Watched{Store: memstore.New()}
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
