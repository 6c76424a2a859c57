package redisstore

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

// TestDirectQuestionComesLate: a question that was given up, because its answer did not come at
// once, is granted nothing when it reaches the server after the request has been asked for again,
// granted and given back.
func TestDirectQuestionComesLate(t *testing.T) {
	for name, others := range map[string]bool{"alone": false, "among others": true} {
		t.Run(name, func(t *testing.T) {
			options, err := redis.ParseURL(testserver.Redis(t))
			if err != nil {
				t.Fatal(err)
			}
			n := &retransmitting{}
			options.Dialer, options.ContextTimeoutEnabled, options.MaxRetries = n.dial, true, -1
			store := closeStore(t, New(closeClient(t, redis.NewClient(options))))
			tree := newTree(t)
			if others {
				take(t, store, ask(tree, x("/other")))
			}
			req := ask(tree, x("/a"))
			store.calls.Pace.Brisk.Store(true)
			n.loseNext()
			take(t, store, req)
			release(t, store, req)
			if answer := n.arrive(t); !bytes.Contains(answer, []byte("withdrawn")) {
				t.Errorf("the late question is answered with %q, want that it is withdrawn", answer)
			}
			free := ask(tree, x("/a"))
			take(t, store, free)
			release(t, store, free)
			// What is remembered is that question, not the request.
			take(t, store, req)
			release(t, store, req)
		})
	}
}

// retransmitting is a network that loses a packet, and delivers it again when it is told to, after
// the connection's end.
type retransmitting struct {
	mu   sync.Mutex
	lose bool
	lost *losing
}

func (n *retransmitting) loseNext() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lose = true
}

func (n *retransmitting) dial(ctx context.Context, kind, addr string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, kind, addr)
	if err != nil {
		return nil, err
	}
	return &losing{Conn: conn, network: n}, nil
}

// arrive delivers what was lost, and returns the answer to it.
func (n *retransmitting) arrive(t *testing.T) []byte {
	t.Helper()
	n.mu.Lock()
	lost := n.lost
	n.mu.Unlock()
	if lost == nil {
		t.Fatal("nothing was lost")
	}
	answer := make([]byte, 1<<10)
	if err := lost.Conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := lost.Conn.Write(lost.packet); err != nil {
		t.Fatal(err)
	}
	got, err := lost.Conn.Read(answer)
	if err != nil {
		t.Fatal(err)
	}
	if err := lost.Conn.Close(); err != nil {
		t.Error(err)
	}
	return answer[:got]
}

// losing is a connection of such a network.
type losing struct {
	net.Conn
	network *retransmitting
	packet  []byte
}

func (l *losing) Write(b []byte) (int, error) {
	l.network.mu.Lock()
	defer l.network.mu.Unlock()
	if l.network.lose && bytes.Contains(b, []byte("evalsha")) {
		l.network.lose, l.network.lost, l.packet = false, l, bytes.Clone(b)
		return len(b), nil
	}
	return l.Conn.Write(b)
}

func (l *losing) Close() error {
	l.network.mu.Lock()
	defer l.network.mu.Unlock()
	if l.network.lost == l {
		return nil // until its packet has arrived
	}
	return l.Conn.Close()
}

// TestServerFallsSilent: a call that is cancelled returns soon, also where the server answered
// briskly until just now.
func TestServerFallsSilent(t *testing.T) {
	for name, call := range map[string]func(context.Context, *Store, pathlock.Acquisition) error{
		"acquire": func(ctx context.Context, s *Store, held pathlock.Acquisition) error {
			_, err := s.Acquire(ctx, ask(held.Tree, x("/b")))
			return err
		},
		"acquire and wait": func(ctx context.Context, s *Store, held pathlock.Acquisition) error {
			req := ask(held.Tree, x("/b"))
			req.Wait = long
			_, err := s.Acquire(ctx, req)
			return err
		},
		"release": func(ctx context.Context, s *Store, held pathlock.Acquisition) error {
			return s.Release(ctx, held.Tree, held.Owner, held.Grant)
		},
		"renew": func(ctx context.Context, s *Store, held pathlock.Acquisition) error {
			_, err := s.Renew(ctx, held.Tree, []pathlock.Lease{{Owner: held.Owner, For: long}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startServer(t)
			sent := make(chan struct{}, 10)
			client := closeClient(t, redis.NewClient(&redis.Options{
				Addr: server.addr, ContextTimeoutEnabled: true, ReadTimeout: -1, MaxRetries: -1, Dialer: func(ctx context.Context, kind, addr string) (net.Conn, error) {
					conn, err := (&net.Dialer{}).DialContext(ctx, kind, addr)
					return telling{conn, sent}, err
				},
			}))
			store := closeStore(t, New(client, WithTimeout(2*patience)))
			held := ask(newTree(t), x("/a"))
			take(t, store, held)
			if !store.calls.Pace.Heeds {
				t.Fatal("the client heeds no deadlines")
			}
			store.calls.Pace.Brisk.Store(true)
			server.signal(syscall.SIGSTOP)
			defer server.signal(syscall.SIGCONT)
			ctx, cancel := context.WithCancel(t.Context())
			over := make(chan error, 1)
			for len(sent) > 0 {
				<-sent
			}
			go func() { over <- call(ctx, store, held) }()
			<-sent
			cancel()
			select {
			case err := <-over:
				if !errors.Is(err, context.Canceled) {
					t.Errorf("error %v, want that it was cancelled", err)
				}
			case <-time.After(patience):
				t.Errorf("the call has not returned %v after it was cancelled", patience)
				server.signal(syscall.SIGCONT)
				t.Logf("it ends with %v", <-over)
			}
		})
	}
}

// telling is a connection that tells of scripts that are called.
type telling struct {
	net.Conn
	sent chan<- struct{}
}

func (c telling) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if bytes.Contains(b, []byte("evalsha")) {
		c.sent <- struct{}{}
	}
	return n, err
}

// BenchmarkDirect compares an acquisition and its release on the caller's goroutine with one that
// can be left behind.
func BenchmarkDirect(b *testing.B) {
	for _, way := range []string{"left behind", "direct"} {
		b.Run(way, func(b *testing.B) {
			store := newStore(b)
			store.calls.Pace.Heeds = way == "direct"
			req := ask(newTree(b), x("/a/b/c"))
			for b.Loop() {
				if _, err := store.Acquire(b.Context(), req); err != nil {
					b.Fatal(err)
				}
				if err := store.Release(b.Context(), req.Tree, req.Owner, req.Grant); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
