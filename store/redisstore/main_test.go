package redisstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testnet"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/redisstore/internal/lua"
)

const (
	// long is a lease, or a wait, that no test sees the end of.
	long = 3 * time.Minute
	// short is a lease that is meant to end during the test.
	short = 700 * time.Millisecond
	// patience is how long a test waits for what has to happen. It is shorter than the third of a
	// long lease after which a waiter asks again by itself, so that a message that is not sent is
	// missed.
	patience = 30 * time.Second
)

func TestMain(m *testing.M) {
	if err := testserver.WaitTogether(); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// newClient returns a client of its own for the shared Redis.
func newClient(t testing.TB) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(testserver.Redis(t))
	if err != nil {
		t.Fatalf("PATHLOCK_TEST_REDIS: %v", err)
	}
	options.ContextTimeoutEnabled = true
	return closeClient(t, redis.NewClient(options))
}

// closeClient closes a client at the end of the test.
func closeClient(t testing.TB, client *redis.Client) *redis.Client {
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("closing the client: %v", err)
		}
	})
	return client
}

// newStore returns a store with a client of its own for the shared Redis.
func newStore(t testing.TB, opts ...Option) *Store {
	t.Helper()
	return closeStore(t, New(newClient(t), opts...))
}

// closeStore closes a store at the end of the test.
func closeStore(t testing.TB, store *Store) *Store {
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
	tree, err := pathlock.NewTree("redisstore", t.Name()+" "+rand.Text())
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
		Note:   "test",
	}
}

// askGate returns a request of a new owner for the gate that does not wait.
func askGate(tree pathlock.Tree) pathlock.Acquisition {
	req := ask(tree)
	req.Gate, req.Claims = true, nil
	return req
}

// more returns a further request of req's owner.
func more(req pathlock.Acquisition, claims ...pathlock.Claim) pathlock.Acquisition {
	req.Grant, req.Gate, req.Claims = pathlock.GrantID(rand.Text()), false, pathlock.Normalize(claims...)
	return req
}

// wait is a request that may wait.
func wait(req pathlock.Acquisition) pathlock.Acquisition {
	req.Wait = long
	return req
}

// sendAs calls the acquire script for a request by hand, which may wait: nobody listens, and nobody
// asks again.
func sendAs(t *testing.T, s *Store, req pathlock.Acquisition) lua.Reply {
	t.Helper()
	got, err := s.scripts.acquire.Ask(t.Context(), s.client, s.keys.about(keyOf(req)), acquisition(req, long)...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// acquisition returns the arguments of the acquire script. A request that is queued stays so:
// nobody listens.
func acquisition(req pathlock.Acquisition, wait time.Duration) []any {
	set := newClaimSet(req.Gate, req.Claims)
	return []any{
		string(req.Owner), string(req.Grant), milliseconds(req.Lease), milliseconds(wait), "nobody listens here", "1",
		set.claims, set.paths, req.Note, flag(req.Held), DefaultMaxWaiters, flag(req.Apart),
	}
}

// take requires that a request is granted.
func take(t testing.TB, s *Store, req pathlock.Acquisition) pathlock.Grant {
	t.Helper()
	grant, err := s.Acquire(t.Context(), req)
	if err != nil {
		t.Fatalf("acquire %v: %v", req.Claims, err)
	}
	return grant
}

// release requires that a grant can be given back.
func release(t testing.TB, s *Store, req pathlock.Acquisition) {
	t.Helper()
	if err := s.Release(context.WithoutCancel(t.Context()), req.Tree, req.Owner, req.Grant); err != nil {
		t.Fatalf("release: %v", err)
	}
}

// visit runs a script in a tree, which reclaims what has ended, and hands over.
func visit(t testing.TB, s *Store, tree pathlock.Tree) {
	t.Helper()
	if err := s.ForceRelease(context.WithoutCancel(t.Context()), tree, "nobody"); !errors.Is(err, pathlock.ErrNotHeld) {
		t.Fatal(err)
	}
}

// waiting is a request that waits.
type waiting struct {
	t      testing.TB
	req    pathlock.Acquisition
	cancel context.CancelFunc
	over   chan struct{}
	grant  pathlock.Grant
	err    error
}

// queue requires that a request begins to wait.
func queue(t testing.TB, s *Store, req pathlock.Acquisition) *waiting {
	t.Helper()
	if req.Wait == 0 {
		req.Wait = long
	}
	begun := make(chan struct{})
	req.Waiting = func() { close(begun) }
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	w := &waiting{t: t, req: req, cancel: cancel, over: make(chan struct{})}
	go func() {
		defer close(w.over)
		w.grant, w.err = s.Acquire(ctx, req)
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

// end returns how the wait ended.
func (w *waiting) end() (pathlock.Grant, error) {
	w.t.Helper()
	select {
	case <-w.over:
	case <-time.After(patience):
		w.t.Fatalf("%v: still waits", w.req.Claims)
	}
	return w.grant, w.err
}

// granted requires that the wait ends with a grant.
func (w *waiting) granted() pathlock.Grant {
	w.t.Helper()
	grant, err := w.end()
	if err != nil {
		w.t.Fatalf("%v: %v, want a grant", w.req.Claims, err)
	}
	return grant
}

// pass returns when d has passed on the server's clock: it waits for a lease of that length, in a
// tree of its own.
func pass(t testing.TB, s *Store, d time.Duration) {
	t.Helper()
	sand := ask(newTree(t), x("/glass"))
	sand.Lease = d
	take(t, s, sand)
	next := ask(sand.Tree, x("/glass"))
	next.Wait = long
	take(t, s, next)
	release(t, s, next)
}

// keysOf returns the names of the keys that a tree has in Redis.
func keysOf(t testing.TB, s *Store, tree pathlock.Tree) []string {
	t.Helper()
	return slices.DeleteFunc(s.keys.of(tree), func(key string) bool {
		n, err := s.client.Exists(context.WithoutCancel(t.Context()), key).Result()
		if err != nil {
			t.Fatal(err)
		}
		return n == 0
	})
}

// requireFree requires that a tree has nothing left but its fence.
func requireFree(t testing.TB, s *Store, tree pathlock.Tree) {
	t.Helper()
	if left := keysOf(t, s, tree); len(left) > 1 || len(left) == 1 && left[0] != s.keys.of(tree)[3] {
		t.Errorf("left behind: %v, want the fence alone", left)
	}
}

// requireHeld requires that an owner has the given grants, and nobody else anything.
func requireHeld(t testing.TB, s *Store, want ...pathlock.Acquisition) {
	t.Helper()
	snapshot, err := s.Snapshot(t.Context(), want[0].Tree)
	if err != nil {
		t.Fatal(err)
	}
	var got, wanted []string
	for _, h := range snapshot.Holders {
		got = append(got, fmt.Sprint(h.Owner, h.Gate, h.Claims))
	}
	for _, req := range want {
		wanted = append(wanted, fmt.Sprint(req.Owner, req.Gate, req.Claims))
	}
	if !slices.Equal(got, wanted) || len(snapshot.Waiters) > 0 {
		t.Errorf("held: %v, and %d wait; want %v and none", got, len(snapshot.Waiters), wanted)
	}
}

// distant returns a store whose network can vanish. Everything else is as go-redis has it by
// default.
func distant(t *testing.T, punctual bool, opts ...Option) (*Store, *testnet.Network) {
	t.Helper()
	options, err := redis.ParseURL(testserver.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	n := testnet.NewNetwork()
	options.Dialer, options.ContextTimeoutEnabled = n.Dial, punctual
	store := closeStore(t, New(closeClient(t, redis.NewClient(options)), opts...))
	t.Cleanup(n.Heal)
	return store, n
}

func path(s string) pathlock.Path { return pathlock.MustParsePath(s) }

func ix(s string) pathlock.Claim { return pathlock.IX(path(s)) }
func x(s string) pathlock.Claim  { return pathlock.X(path(s)) }
