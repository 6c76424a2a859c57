package topology

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

const (
	// long is a lease, or a wait, that no test sees the end of.
	long = 3 * time.Minute
	// patience is how long a test waits for what has to happen. It is shorter than the third of a
	// long lease after which a waiter asks again by itself, so that a message that does not come is
	// missed.
	patience = 30 * time.Second
)

func TestMain(m *testing.M) {
	if spec := os.Getenv(childVariable); spec != "" {
		child(spec)
	}
	if err := testserver.WaitTogether(); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// open returns a store on a client of its own, which is closed at the end of the test.
func open(t testing.TB, client redis.UniversalClient, opts ...redisstore.Option) *redisstore.Store {
	t.Helper()
	store := redisstore.New(client, opts...)
	t.Cleanup(func() {
		if err := store.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("closing the store: %v", err)
		}
	})
	return store
}

// newTree returns a tree that nobody else uses.
func newTree(t testing.TB) pathlock.Tree {
	t.Helper()
	tree, err := pathlock.NewTree("topology", rand.Text())
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// ask returns a request of a new owner that does not wait.
func ask(tree pathlock.Tree, claims ...pathlock.Claim) pathlock.Acquisition {
	return pathlock.Acquisition{
		Tree:   tree,
		Owner:  pathlock.Owner(rand.Text()),
		Grant:  pathlock.GrantID(rand.Text()),
		Claims: pathlock.Normalize(claims...),
		Lease:  long,
	}
}

func x(path string) pathlock.Claim { return pathlock.X(pathlock.MustParsePath(path)) }

// take requires that a request is granted.
func take(t testing.TB, store *redisstore.Store, req pathlock.Acquisition) pathlock.Grant {
	t.Helper()
	grant, err := store.Acquire(t.Context(), req)
	if err != nil {
		t.Fatalf("acquire %v: %v", req.Claims, err)
	}
	return grant
}

// release requires that a grant can be given back.
func release(t testing.TB, store *redisstore.Store, req pathlock.Acquisition) {
	t.Helper()
	if err := store.Release(t.Context(), req.Tree, req.Owner, req.Grant); err != nil {
		t.Fatalf("release: %v", err)
	}
}

// renew requires that an owner still holds, or has lost, what it had.
func renew(t testing.TB, store *redisstore.Store, req pathlock.Acquisition, wantLost bool) {
	t.Helper()
	var lost []pathlock.Owner
	err := persist(t, func() (err error) {
		lost, err = store.Renew(t.Context(), req.Tree, []pathlock.Lease{{Owner: req.Owner, For: long}})
		return err
	})
	if err != nil || len(lost) > 0 != wantLost {
		t.Fatalf("renew: lost %v, error %v; want it lost: %v", lost, err, wantLost)
	}
}

// persist does something until the store serves, as a program would that is told ErrUnavailable,
// and returns how it ended.
func persist(t testing.TB, do func() error) error {
	t.Helper()
	over := time.Now().Add(patience)
	for {
		err := do()
		if !errors.Is(err, pathlock.ErrUnavailable) {
			return err
		}
		if time.Now().After(over) {
			t.Fatalf("still unavailable after %v: %v", patience, err)
		}
	}
}

// waiting is a request that waits.
type waiting struct {
	t     testing.TB
	req   pathlock.Acquisition
	over  chan struct{}
	grant pathlock.Grant
	err   error
}

// queue requires that a request begins to wait.
func queue(t testing.TB, store *redisstore.Store, req pathlock.Acquisition) *waiting {
	t.Helper()
	req.Wait = long
	begun := make(chan struct{})
	req.Waiting = func() { close(begun) }
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	w := &waiting{t: t, req: req, over: make(chan struct{})}
	go func() {
		defer close(w.over)
		w.grant, w.err = store.Acquire(ctx, req)
	}()
	t.Cleanup(func() { cancel(); <-w.over })
	select {
	case <-begun:
	case <-w.over:
		t.Fatalf("acquire %v: fence %d, error %v; want it to wait", req.Claims, w.grant.Fence, w.err)
	case <-time.After(patience):
		t.Fatalf("acquire %v: neither queued nor refused", req.Claims)
	}
	return w
}

// granted requires that the wait ends with a grant within the given time.
func (w *waiting) granted(within time.Duration) pathlock.Grant {
	w.t.Helper()
	select {
	case <-w.over:
	case <-time.After(within):
		w.t.Fatalf("%v: still waits after %v", w.req.Claims, within)
	}
	if w.err != nil {
		w.t.Fatalf("%v: %v, want a grant", w.req.Claims, w.err)
	}
	return w.grant
}

// rises requires that a grant's fence is higher than an earlier one's.
func rises(t testing.TB, earlier, later pathlock.Grant) {
	t.Helper()
	if later.Fence <= earlier.Fence {
		t.Errorf("fence %d after %d, want it to rise", later.Fence, earlier.Fence)
	}
}

// holders requires that a tree has a number of grants.
func holders(t testing.TB, store *redisstore.Store, tree pathlock.Tree, want int) {
	t.Helper()
	snapshot, err := store.Snapshot(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	if len(snapshot.Holders) != want || len(snapshot.Waiters) != 0 {
		t.Errorf("%d holders and %d waiters, want %d and none: %s", len(snapshot.Holders), len(snapshot.Waiters), want, fmt.Sprint(snapshot))
	}
}
