package etcdstore

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testetcd"
	"github.com/pathlock-go/pathlock/internal/testnet"
	"github.com/pathlock-go/pathlock/internal/testprocesses"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

func TestMain(m *testing.M) {
	if testprocesses.Main(func(url string) (pathlock.Store, error) { return Open(url) }) {
		return
	}
	if err := testserver.WaitTogether(); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// connect returns a client of some members that is closed at the end of the test.
func connect(t testing.TB, addrs ...string) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{
		Endpoints: addrs, Logger: zap.NewNop(),
		DialKeepAliveTime: keepAliveTime, DialKeepAliveTimeout: keepAliveTimeout,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// newStore returns a store that is closed at the end of the test.
func newStore(t testing.TB, client *clientv3.Client, opts ...Option) *Store {
	t.Helper()
	s := New(client, opts...)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// newServer starts a server and returns a client of it.
func newServer(t testing.TB, args ...string) (*testetcd.Server, *clientv3.Client) {
	t.Helper()
	server := testetcd.Start(t, args...)
	return server, connect(t, server.Addr)
}

// line is a connection to a member that can be cut.
type line struct {
	*testnet.Proxy
	t testing.TB
}

// newLine returns a line that is cut at the end of the test, if not before.
func newLine(t testing.TB, addr string) line {
	t.Helper()
	p, err := testnet.StartProxy(t.Context(), addr, 0)
	if err != nil {
		t.Fatal(err)
	}
	l := line{p, t}
	t.Cleanup(l.cut)
	return l
}

func (l line) cut() {
	if err := l.Close(); err != nil {
		l.t.Error(err)
	}
}

// newTree returns a tree of the test's own.
func newTree(t testing.TB) pathlock.Tree {
	t.Helper()
	tree, err := pathlock.NewTree("etcdstore", rand.Text())
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// x is X on a path with its intentions.
func x(t testing.TB, path string) []pathlock.Claim {
	t.Helper()
	p, err := pathlock.ParsePath(path)
	if err != nil {
		t.Fatal(err)
	}
	return pathlock.Normalize(pathlock.X(p))
}

// request asks for X on /a for an owner, in the way of a locker.
func request(t testing.TB, tree pathlock.Tree, owner pathlock.Owner, lease, wait time.Duration) pathlock.Acquisition {
	return pathlock.Acquisition{Tree: tree, Owner: owner, Grant: pathlock.GrantID(owner + "'s"), Claims: x(t, "/a"), Lease: lease, Wait: wait}
}

// acquire acquires what has to be granted.
func acquire(t testing.TB, s pathlock.Store, req pathlock.Acquisition) pathlock.Grant {
	t.Helper()
	g, err := s.Acquire(t.Context(), req)
	if err != nil {
		t.Fatalf("%s: %v", req.Owner, err)
	}
	return g
}

// release gives back what acquire has acquired.
func release(t testing.TB, s pathlock.Store, req pathlock.Acquisition) {
	t.Helper()
	if err := s.Release(t.Context(), req.Tree, req.Owner, req.Grant); err != nil {
		t.Fatalf("%s: %v", req.Owner, err)
	}
}

// queue begins to wait, and returns the outcome when it is there.
func queue(t testing.TB, s pathlock.Store, req pathlock.Acquisition) <-chan outcomeOf {
	t.Helper()
	waiting, over := make(chan struct{}), make(chan outcomeOf, 1)
	req.Waiting = func() { close(waiting) }
	go func() {
		g, err := s.Acquire(t.Context(), req)
		over <- outcomeOf{g, err, time.Now()}
	}()
	select {
	case <-waiting:
	case o := <-over:
		t.Fatalf("%s does not wait: %+v", req.Owner, o)
	}
	return over
}

type outcomeOf struct {
	grant pathlock.Grant
	err   error
	at    time.Time
}

// granted requires a grant.
func granted(t testing.TB, over <-chan outcomeOf) outcomeOf {
	t.Helper()
	o := <-over
	if o.err != nil {
		t.Fatal(o.err)
	}
	return o
}

// isGuard reports whether a key is one of the few that stay for good.
func isGuard(kv *mvccpb.KeyValue) bool { return strings.Contains(string(kv.Key), "//guards/") }

// requireNothing requires that etcd has no keys and no leases, within the time that a lease lasts
// which nobody uses.
func requireNothing(t testing.TB, client *clientv3.Client) {
	t.Helper()
	testserver.Await(t, "nothing is left", func() bool {
		keys, err := client.Get(t.Context(), "", clientv3.WithPrefix(), clientv3.WithKeysOnly())
		if err != nil {
			t.Fatal(err)
		}
		leases, err := client.Leases(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return !slices.ContainsFunc(keys.Kvs, func(kv *mvccpb.KeyValue) bool { return !isGuard(kv) }) && len(leases.Leases) == 0
	})
}

// requireNoKeys requires that etcd has no keys.
func requireNoKeys(t testing.TB, client *clientv3.Client) {
	t.Helper()
	keys, err := client.Get(t.Context(), "", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range keys.Kvs {
		if isGuard(kv) {
			continue
		}
		t.Errorf("left behind: %s = %s", kv.Key, kv.Value)
	}
}
