package redisstore

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

// proxy stands between a client and a server and loses replies.
type proxy struct {
	listener net.Listener
	server   string
	// lose is how many more replies to lose, each with its connection; lost is told of each.
	lose atomic.Int32
	lost chan struct{}
	mu   sync.Mutex
	all  []net.Conn
	work sync.WaitGroup
}

func startProxy(t testing.TB, server string) *proxy {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener, server: server, lost: make(chan struct{}, 100)}
	p.work.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		p.mu.Lock()
		for _, conn := range p.all {
			_ = conn.Close()
		}
		p.mu.Unlock()
		p.work.Wait()
	})
	return p
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", p.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.all = append(p.all, client, server)
		p.mu.Unlock()
		p.work.Go(func() { _, _ = io.Copy(server, client); _ = server.Close() })
		p.work.Go(func() { p.replies(client, server); _ = client.Close() })
	}
}

// replies hands on what the server says, but for what is to be lost.
func (p *proxy) replies(client, server net.Conn) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := server.Read(buffer)
		if err != nil {
			return
		}
		if p.lose.Load() > 0 && p.lose.Add(-1) >= 0 {
			_ = server.Close()
			p.lost <- struct{}{}
			return
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// lossy returns a store whose replies can be lost, and a client that tries every command the given
// number of times more.
func lossy(t testing.TB, retries int) (*Store, *proxy) {
	t.Helper()
	options, err := redis.ParseURL(testserver.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	p := startProxy(t, options.Addr)
	options.Addr, options.MaxRetries = p.listener.Addr().String(), retries
	store := closeStore(t, New(closeClient(t, redis.NewClient(options))))
	if err := store.Ping(t.Context()); err != nil { // so that it is connected when replies begin to be lost
		t.Fatal(err)
	}
	return store, p
}

// TestLostReplyIsSentAgain: what the client sends twice is answered, and counted, once.
func TestLostReplyIsSentAgain(t *testing.T) {
	store, proxy := lossy(t, 3)
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
			store, proxy := lossy(t, -1)
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
	for i := range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		req := ask(tree, x("/a"))
		req.Wait = long
		sent := make(chan struct{})
		// The hook cancels when the command is on its way, and before its reply is read.
		hook := cancelHook{sha: store.scripts.acquire.SHA(), cancel: cancel, sent: sent}
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
		requireConsistent(t, store, tree)
		if left := keysLeft(t, store, tree); strings.Join(left, " ") != store.keys.of(tree)[3] {
			t.Fatalf("left behind: %v, want the fence alone", left)
		}
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
			close(h.sent)
		}
		return err
	}
}
