package etcdstore

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testetcd"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/store/storetest"
)

func TestMain(m *testing.M) { testserver.Main(m, 4) }

// connect returns a client of some members that is closed at the end of the test.
func connect(t testing.TB, addrs ...string) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{
		Endpoints: addrs, Logger: zap.NewNop(),
		DialKeepAliveTime: keepAliveTime, DialKeepAliveTimeout: keepAliveTimeout,
	})
	testerr.Must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// newStore returns a store that is closed at the end of the test.
func newStore(t testing.TB, client *clientv3.Client, opts ...Option) *store {
	t.Helper()
	s := onClient(client, testlock.Patiently(WithTimeout, opts))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), testlock.Patience)
		defer cancel()
		testerr.None(t, s.Close(ctx))
	})
	return s
}

// newServer starts a server and returns a client of it.
func newServer(t testing.TB, args ...string) (*testetcd.Server, *clientv3.Client) {
	t.Helper()
	server := testetcd.Start(t, args...)
	return server, connect(t, server.Addr)
}

func x(path string) pathlock.Claim { return testlock.X(path) }

// isGuard reports whether a key is one of the few that stay for good.
func isGuard(kv *mvccpb.KeyValue) bool { return strings.Contains(string(kv.Key), "//guards/") }

// requireNoKeys requires that etcd has no keys but guards, sooner or later.
func requireNoKeys(t testing.TB, client *clientv3.Client) {
	t.Helper()
	testserver.Await(t, "nothing is left", func() bool {
		keys, err := client.Get(t.Context(), "", clientv3.WithPrefix(), clientv3.WithKeysOnly())
		testerr.Must(t, err)
		return !slices.ContainsFunc(keys.Kvs, func(kv *mvccpb.KeyValue) bool { return !isGuard(kv) })
	})
}

func TestConformance(t *testing.T) {
	server, client := newServer(t)
	storetest.Run(t, func(t *testing.T) pathlock.Store { return newStore(t, client) },
		storetest.Crash(func(t *testing.T) (survivor, victim pathlock.Store, crash func()) {
			line := testnet.StartProxy(t, server.Addr, 0)
			return newStore(t, client), newStore(t, connect(t, line.Addr())), func() { _ = line.Close() }
		}), storetest.Silence(func(t *testing.T) storetest.Silent {
			line := testnet.StartProxy(t, server.Addr, 0)
			store := newStore(t, connect(t, line.Addr()), WithTimeout(time.Second))
			t.Cleanup(line.Resume)
			return storetest.Silent{Store: store, Timeout: time.Second, Stop: line.Pause, Resume: line.Resume, Other: newStore(t, client)}
		}))
}

// A lease that nobody looks at ends, too.
func TestLease_endsThoughNobodyLooks(t *testing.T) {
	t.Parallel()
	_, client := newServer(t)
	forgotten := testlock.Ask(testlock.Tree(t), x("/a"))
	forgotten.Lease = 2 * time.Second
	testlock.Take(t, newStore(t, client), forgotten)
	requireNoKeys(t, client)
}

// An operator revokes the etcd lease, to which the next tickets would have been attached, too.
func TestLease_revoked(t *testing.T) {
	t.Parallel()
	_, client := newServer(t)
	s, req := newStore(t, client), testlock.Ask(testlock.Tree(t), x("/a"))
	testlock.Take(t, s, req)
	all, err := client.Leases(t.Context())
	testerr.Must(t, err)
	for _, l := range all.Leases {
		testerr.Must(t, testerr.Of(client.Revoke(t.Context(), l.ID)))
	}
	testlock.Take(t, s, testlock.Ask(req.Tree, x("/a")))
}
