package etcdstore

import (
	"context"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/pathlock-go/pathlock/internal/delayproxy"
	"github.com/pathlock-go/pathlock/internal/testetcd"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

func TestMain(m *testing.M) {
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
	*delayproxy.Proxy
	t testing.TB
}

// newLine returns a line that is cut at the end of the test, if not before.
func newLine(t testing.TB, addr string) line {
	t.Helper()
	p, err := delayproxy.Start(t.Context(), addr, 0)
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
