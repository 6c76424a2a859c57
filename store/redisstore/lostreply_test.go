package redisstore

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// lossy makes connections that lose replies, and break when they do.
type lossy struct {
	// lose is how many more replies to lose; lost is told of each.
	lose atomic.Int32
	lost chan struct{}
}

type lossyConn struct {
	net.Conn
	*lossy
}

func (c lossyConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == nil && c.lose.Load() > 0 && c.lose.Add(-1) >= 0 {
		_ = c.Conn.Close()
		c.lost <- struct{}{}
		return 0, io.EOF // the server has carried the command out
	}
	return n, err
}

// startLossy returns a store whose replies can be lost, and whose client tries every command the
// given number of times more.
func startLossy(t testing.TB, retries int) (*store, *lossy) {
	t.Helper()
	options, err := redis.ParseURL(testserver.Redis(t))
	testerr.Must(t, err)
	l := &lossy{lost: make(chan struct{}, 100)}
	options.MaxRetries = retries
	options.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		return lossyConn{conn, l}, err
	}
	store := closeStore(t, New(closeClient(t, redis.NewClient(options))))
	if err := store.Ping(t.Context()); err != nil { // so that it is connected when replies begin to be lost
		t.Fatal(err)
	}
	return store, l
}

// TestLostReplyIsSentAgain: what the client sends twice is answered, and counted, once.
func TestLostReplyIsSentAgain(t *testing.T) {
	store, proxy := startLossy(t, 3)
	tree := testlock.Tree(t)
	req := testlock.Ask(tree, x("/a"))

	proxy.lose.Store(1)
	grant := testlock.Take(t, store, req)
	<-proxy.lost
	snapshot, err := store.Snapshot(t.Context(), tree)
	if err != nil || len(snapshot.Holders) != 1 || snapshot.Holders[0].Fence != grant.Fence {
		t.Fatalf("holders %v, error %v; want one with fence %d", snapshot.Holders, err, grant.Fence)
	}

	again := more(req, x("/a"))
	testlock.Take(t, store, again)
	proxy.lose.Store(1)
	testlock.Release(t, store, again)
	<-proxy.lost
	testerr.MustBe(t, "acquire", testerr.Of(store.Acquire(t.Context(), testlock.Ask(tree, x("/a")))), pathlock.ErrConflict)

	proxy.lose.Store(1)
	testlock.Release(t, store, req)
	<-proxy.lost
	testerr.Is(t, "release of what was released", store.Release(t.Context(), tree, req.Owner, req.Grant), pathlock.ErrNotHeld)
	requireConsistent(t, store, tree)
}

// TestLostReplyLeavesNothing: a request that fails because its reply was lost is taken back.
func TestLostReplyLeavesNothing(t *testing.T) {
	for _, queued := range []bool{false, true} {
		store, proxy := startLossy(t, -1)
		other, tree := newStore(t), testlock.Tree(t)
		holder := testlock.Ask(tree, x("/a"))
		if queued {
			testlock.Take(t, other, holder)
		}
		proxy.lose.Store(1)
		testerr.MustBe(t, "acquire", testerr.Of(store.Acquire(t.Context(), wait(testlock.Ask(tree, x("/a"))))), pathlock.ErrUnavailable)
		if err := store.Close(t.Context()); err != nil { // waits for what goes on in the background
			t.Fatal(err)
		}
		if queued {
			requireHeld(t, other, holder)
			testlock.Release(t, other, holder)
		}
		requireFree(t, other, tree)
	}
}
