package redisstore

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testserver"
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
func startLossy(t testing.TB, retries int) (*Store, *lossy) {
	t.Helper()
	options, err := redis.ParseURL(testserver.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
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
	tree := newTree(t)
	req := ask(tree, x("/a"))

	proxy.lose.Store(1)
	grant := take(t, store, req)
	<-proxy.lost
	snapshot, err := store.Snapshot(t.Context(), tree)
	if err != nil || len(snapshot.Holders) != 1 || snapshot.Holders[0].Fence != grant.Fence {
		t.Fatalf("holders %v, error %v; want one with fence %d", snapshot.Holders, err, grant.Fence)
	}

	again := more(req, x("/a"))
	take(t, store, again)
	proxy.lose.Store(1)
	release(t, store, again)
	<-proxy.lost
	if _, err := store.Acquire(t.Context(), ask(tree, x("/a"))); !errors.Is(err, pathlock.ErrConflict) {
		t.Fatalf("acquire: %v, want a conflict with the grant that is left", err)
	}

	proxy.lose.Store(1)
	release(t, store, req)
	<-proxy.lost
	if err := store.Release(t.Context(), tree, req.Owner, req.Grant); !errors.Is(err, pathlock.ErrNotHeld) {
		t.Errorf("release of what was released: %v, want ErrNotHeld", err)
	}
	requireConsistent(t, store, tree)
}

// TestLostReplyLeavesNothing: a request that fails because its reply was lost is taken back.
func TestLostReplyLeavesNothing(t *testing.T) {
	for name, prepare := range map[string]func(*Store, pathlock.Tree) (undo func()){
		"granted": func(*Store, pathlock.Tree) func() { return func() {} },
		"queued": func(s *Store, tree pathlock.Tree) func() {
			holder := ask(tree, x("/a"))
			take(t, s, holder)
			return func() { release(t, s, holder) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			store, proxy := startLossy(t, -1)
			other, tree := newStore(t), newTree(t)
			undo := prepare(other, tree)
			req := ask(tree, x("/a"))
			req.Wait = long
			proxy.lose.Store(1)
			if _, err := store.Acquire(t.Context(), req); !errors.Is(err, pathlock.ErrUnavailable) {
				t.Fatalf("acquire: %v, want ErrUnavailable", err)
			}
			if err := store.Close(context.WithoutCancel(t.Context())); err != nil { // waits for what goes on in the background
				t.Fatal(err)
			}
			snapshot, err := other.Snapshot(t.Context(), tree)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range append(snapshot.Holders, snapshot.Waiters...) {
				if h.Owner == req.Owner {
					t.Errorf("left behind: %+v", h)
				}
			}
			undo()
		})
	}
}

// TestCancelBetweenRequestAndReply: the server grants what nobody wants any more.
func TestCancelBetweenRequestAndReply(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	for i := range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		req := ask(tree, x("/a"))
		req.Wait = long
		sent := make(chan struct{}, 1)
		// The hook cancels when the command is on its way, and before its reply is read.
		hook := cancelHook{sha: store.scripts.acquire.SHA, cancel: cancel, sent: sent}
		client := newClient(t)
		client.AddHook(hook)
		hooked := New(client)
		_, err := hooked.Acquire(ctx, req)
		<-sent
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("acquire %d: %v, want Canceled", i, err)
		}
		if err := hooked.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
		requireFree(t, store, tree)
	}
}

type cancelHook struct {
	sha    string
	cancel func()
	sent   chan struct{}
}

func (h cancelHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h cancelHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (h cancelHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if args := cmd.Args(); len(args) > 1 && args[1] == h.sha && !redis.HasErrorPrefix(err, "NOSCRIPT") {
			h.cancel()
			h.sent <- struct{}{}
		}
		return err
	}
}

// TestNeverSent: of a call that never reached the network nothing is taken back.
func TestNeverSent(t *testing.T) {
	client := closeClient(t, redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1, DialerRetries: 1}))
	store, withdrawn := New(client), make(chan struct{}, 100)
	client.AddHook(cancelHook{sha: store.scripts.withdraw.SHA, cancel: func() {}, sent: withdrawn})
	if _, err := store.Acquire(t.Context(), ask(newTree(t), x("/a"))); !errors.Is(err, pathlock.ErrUnavailable) {
		t.Errorf("acquire: %v, want ErrUnavailable", err)
	}
	if err := store.Close(t.Context()); err != nil { // what is taken back is tried once more
		t.Fatal(err)
	}
	if len(withdrawn) > 0 {
		t.Error("it is taken back")
	}
}

// TestMadeAgain: a request that fails and is made again, and then granted, stays granted. If it has
// been taken back before, it is refused, and stays so.
func TestMadeAgain(t *testing.T) {
	store, network := distant(t, true, WithTimeout(time.Second))
	again := ask(newTree(t), x("/a"))
	visit(t, store, again.Tree)
	network.Vanish()
	if _, err := store.Acquire(t.Context(), again); !errors.Is(err, pathlock.ErrUnavailable) {
		t.Fatalf("acquire: %v, want ErrUnavailable", err)
	}
	network.Heal()
	other, withdrawn := newStore(t), false
	testserver.Await(t, "it is granted, or withdrawn", func() bool {
		_, err := store.Acquire(t.Context(), again)
		withdrawn = errors.Is(err, errWithdrawn)
		return err == nil || withdrawn
	})
	if err := store.Close(context.WithoutCancel(t.Context())); err != nil { // after a last try of all that there is to take back
		t.Fatal(err)
	}
	if withdrawn {
		requireFree(t, other, again.Tree)
	} else {
		requireHeld(t, other, again)
	}
}
