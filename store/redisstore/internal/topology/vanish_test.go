package topology

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testredis"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// blackhole is a network in which the packets to one address are dropped, as those of a host that
// has gone.
type blackhole struct {
	mu   sync.Mutex
	addr string
}

func (b *blackhole) swallow(addr string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.addr = addr
}

func (b *blackhole) swallows(addr string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.addr == addr
}

func (b *blackhole) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if b.swallows(addr) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &swallowed{conn, b, addr}, nil
}

// swallowed is a connection through a blackhole.
type swallowed struct {
	net.Conn
	hole *blackhole
	addr string
}

func (s *swallowed) Write(b []byte) (int, error) {
	if s.hole.swallows(s.addr) {
		return len(b), nil
	}
	return s.Conn.Write(b)
}

func (s *swallowed) Read(b []byte) (int, error) {
	for {
		n, err := s.Conn.Read(b)
		if err != nil || !s.hole.swallows(s.addr) {
			return n, err
		}
	}
}

// TestShardVanishes: while the packets of one shard are dropped, calls for its trees end in time,
// and those for the trees of others are served, by a client that knows the cluster and by one that
// comes to it only now.
func TestShardVanishes(t *testing.T) {
	t.Parallel()
	const timeout, slack = time.Second, 5 * time.Second
	c := testredis.StartCluster(t, testredis.Redis)
	hole := &blackhole{}
	client := func() *redis.ClusterClient {
		return c.Client(func(o *redis.ClusterOptions) {
			// As Open sets them; only the network is the test's.
			o.Dialer, o.ContextTimeoutEnabled, o.DialTimeout, o.DialerRetries = hole.dial, true, timeout/2, 1
		})
	}
	known := open(t, client(), redisstore.WithTimeout(timeout))
	gone := newTree(t)
	primary := c.Primary(known.GateKey(gone))
	var healthy pathlock.Tree
	for healthy = newTree(t); c.Primary(known.GateKey(healthy)) == primary; {
		healthy = newTree(t)
	}
	for _, tree := range []pathlock.Tree{gone, healthy} {
		req := ask(tree, x("/a"))
		take(t, known, req)
		release(t, known, req)
	}
	hole.swallow(primary.Addr)
	t.Cleanup(func() { hole.swallow("") })

	stop, failing := make(chan struct{}), sync.WaitGroup{}
	for range 20 {
		failing.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				began := time.Now()
				_, err := known.Acquire(t.Context(), ask(gone, x("/a")))
				if took := time.Since(began); !errors.Is(err, pathlock.ErrUnavailable) || took > timeout+slack {
					t.Errorf("acquire at the shard that has gone: %v after %v, want ErrUnavailable within %v", err, took, timeout)
					return
				}
			}
		})
	}
	for name, store := range map[string]*redisstore.Store{
		"a client that knows the cluster": known,
		"a new client":                    open(t, client(), redisstore.WithTimeout(timeout)),
	} {
		served := 0
		for over := time.Now().Add(3 * timeout); time.Now().Before(over); {
			req := ask(healthy, x("/a"))
			if _, err := store.Acquire(t.Context(), req); err != nil {
				if served > 0 || !errors.Is(err, pathlock.ErrUnavailable) {
					t.Errorf("%s: acquire at a shard that is well: %v, after %d that were served", name, err, served)
				}
				continue // it may have asked the one that has gone where the slots are
			}
			served++
			release(t, store, req)
		}
		if served == 0 {
			t.Errorf("%s: nothing is served", name)
		}
		t.Logf("%s: %d served", name, served)
	}
	close(stop)
	failing.Wait()
	hole.swallow("")
	again := ask(gone, x("/a"))
	if err := persist(t, func() error { _, err := known.Acquire(t.Context(), again); return err }); err != nil {
		t.Fatalf("when the packets pass again: %v", err)
	}
	release(t, known, again)
}
