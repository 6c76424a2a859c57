package redisstore

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

const (
	// long is a lease, or a wait, that no test sees the end of.
	long = testlock.Long
	// short is a lease that is meant to end during the test.
	short = 700 * time.Millisecond
	// patience is how long a test waits for what has to happen. It is shorter than the third of a
	// long lease after which a waiter asks again by itself, so that a message that is not sent is
	// missed.
	patience = testlock.Patience
)

func x(path string) pathlock.Claim { return testlock.X(path) }

func TestMain(m *testing.M) { testserver.Main(m, 4) }

// connect returns a client of the shared Redis that heeds deadlines, and is closed at the end of
// the test. Everything else is as go-redis has it by default, or as changed.
func connect(t testing.TB, change func(*redis.Options)) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(testserver.Redis(t))
	testerr.Must(t, err)
	options.ContextTimeoutEnabled = true
	change(options)
	client := redis.NewClient(options)
	t.Cleanup(func() { testerr.Is(t, "closing the client", client.Close(), nil) })
	return client
}

// plain leaves the options of a client as they are.
func plain(*redis.Options) {}

// newStore returns a store with a client of its own for the shared Redis.
func newStore(t testing.TB, opts ...Option) *store {
	t.Helper()
	return closeStore(t, New(connect(t, plain), testlock.Patiently(WithTimeout, opts)...))
}

// distant returns a store that reaches the shared Redis through a proxy.
func distant(t testing.TB, change func(*redis.Options), opts ...Option) (s *store, proxy *testnet.Proxy) {
	t.Helper()
	client := connect(t, func(o *redis.Options) {
		proxy = testnet.StartProxy(t, o.Addr, 0)
		o.Dialer = proxy.Dial
		change(o)
	})
	s = closeStore(t, New(client, testlock.Patiently(WithTimeout, opts)...))
	t.Cleanup(proxy.Resume)
	return s, proxy
}

// closeStore closes a store at the end of the test.
func closeStore(t testing.TB, s pathlock.Store) *store {
	t.Cleanup(func() {
		testerr.Is(t, "closing the store", s.Close(context.WithoutCancel(t.Context())), nil)
	})
	return s.(*store)
}

// askGate returns a request of a new owner for the gate that does not wait.
func askGate(tree pathlock.Tree) pathlock.Acquisition {
	req := testlock.Ask(tree)
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
func sendAs(t *testing.T, s *store, req pathlock.Acquisition) reply {
	t.Helper()
	got, err := s.scripts.acquire.ask(t.Context(), s.client, s.keys.about(keyOf(req)), acquisition(req, long)...)
	testerr.Must(t, err)
	return got
}

// acquisition returns the arguments of the acquire script. A request that is queued stays so:
// nobody listens.
func acquisition(req pathlock.Acquisition, wait time.Duration) []any {
	set := newClaimSet(req.Gate, req.Claims)
	return []any{
		string(req.Owner), string(req.Grant), milliseconds(req.Lease), milliseconds(wait), "nobody listens here", "1",
		set.claims, set.paths, req.Note, encodeOrigin(req.Origin), flag(req.Held), defaultMaxWaiters, flag(req.Apart),
	}
}

// visit runs a script in a tree, which reclaims what has ended, and hands over.
func visit(t testing.TB, s *store, tree pathlock.Tree) {
	t.Helper()
	if err := s.ForceRelease(context.WithoutCancel(t.Context()), tree, "nobody"); !errors.Is(err, pathlock.ErrNotHeld) {
		t.Fatal(err)
	}
}

// pass returns when d has passed on the server's clock: it waits for a lease of that length, in a
// tree of its own.
func pass(t testing.TB, s *store, d time.Duration) {
	t.Helper()
	sand := testlock.Ask(testlock.Tree(t), x("/glass"))
	sand.Lease = d
	testlock.Take(t, s, sand)
	next := testlock.Ask(sand.Tree, x("/glass"))
	next.Wait = long
	testlock.Take(t, s, next)
	testlock.Release(t, s, next)
}

// requireFree requires that a tree has nothing left but its fence.
func requireFree(t testing.TB, s *store, tree pathlock.Tree) {
	t.Helper()
	keys := s.keys.of(tree)
	keys = slices.Delete(keys, 3, 4)
	if n, err := s.client.Exists(context.WithoutCancel(t.Context()), keys...).Result(); err != nil || n > 0 {
		t.Errorf("%d keys are left behind, error %v; want the fence alone", n, err)
	}
}
