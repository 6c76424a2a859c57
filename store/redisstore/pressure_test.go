package redisstore

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testnet"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

// far returns a client whose server is a delay away, each way.
func far(t testing.TB, delay time.Duration) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(testserver.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := testnet.StartProxy(t.Context(), options.Addr, delay)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	options.Addr, options.ContextTimeoutEnabled = proxy.Addr(), true
	return closeClient(t, redis.NewClient(options))
}

// TestPressure: goroutines with little time, over a network that takes its time, take and give back
// as fast as they can. Every release arrives, nothing of a call that failed stays, and what is held
// beside them is renewed all the while.
func TestPressure(t *testing.T) {
	const goroutines, rounds, within = 40, 50, time.Second
	store, other := closeStore(t, New(far(t, 2*time.Millisecond))), newStore(t)
	beside := ask(newTree(t), x("/held"))
	beside.Lease = long
	take(t, store, beside)

	stop, renewing := make(chan struct{}), sync.WaitGroup{}
	renewing.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(within / 10):
			}
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			lost, err := store.Renew(ctx, beside.Tree, []pathlock.Lease{{Owner: beside.Owner, For: beside.Lease}})
			cancel()
			if err != nil || len(lost) > 0 {
				t.Errorf("renewal beside them: lost %v, error %v", lost, err)
			}
		}
	})
	var trees []pathlock.Tree
	var work, releases sync.WaitGroup
	for range goroutines {
		tree := newTree(t)
		trees = append(trees, tree)
		work.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), within)
			defer cancel()
			for range rounds {
				req := ask(tree, x("/a"))
				req.Wait = within
				if _, err := store.Acquire(ctx, req); err != nil {
					var conflict *pathlock.ConflictError
					if !errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &conflict) {
						t.Errorf("acquire: %v", err)
					}
					continue
				}
				releases.Go(func() {
					ctx, cancel := context.WithTimeout(context.Background(), long)
					defer cancel()
					if err := store.Release(ctx, req.Tree, req.Owner, req.Grant); err != nil {
						t.Errorf("release: %v", err)
					}
				})
			}
		})
	}
	work.Wait()
	releases.Wait()
	close(stop)
	renewing.Wait()
	requireHeld(t, other, beside)
	release(t, store, beside)
	if err := store.Close(context.WithoutCancel(t.Context())); err != nil { // what was left behind has been taken back
		t.Fatal(err)
	}
	for _, tree := range trees {
		requireFree(t, other, tree)
	}
}

// TestCloseIsBounded: a store whose server does not answer is closed within the context, and,
// whatever that is, within the time of a few commands, however many calls have failed before.
func TestCloseIsBounded(t *testing.T) {
	const timeout, failed = 200 * time.Millisecond, 400
	for _, tt := range []struct {
		name  string
		give  time.Duration
		want  error
		limit time.Duration
	}{
		{"all the time in the world", long, nil, 6 * timeout},
		{"no time", 1, context.DeadlineExceeded, timeout},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store, network := distant(t, true, WithTimeout(timeout))
			if err := store.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
			network.Vanish()
			var work sync.WaitGroup
			for range failed {
				tree := newTree(t)
				work.Go(func() {
					if _, err := store.Acquire(t.Context(), ask(tree, x("/a"))); !errors.Is(err, pathlock.ErrUnavailable) {
						t.Errorf("acquire: %v, want ErrUnavailable", err)
					}
				})
			}
			work.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), tt.give)
			defer cancel()
			began := time.Now()
			if err := store.Close(ctx); !errors.Is(err, tt.want) {
				t.Errorf("close: %v, want %v", err, tt.want)
			}
			if took := time.Since(began); took > tt.limit+patience/2 {
				t.Errorf("closing took %v, want %v at most", took, tt.limit)
			}
			network.Heal()
		})
	}
}

// TestNeverSent: of a call that never reached the network nothing is taken back.
func TestNeverSent(t *testing.T) {
	client := closeClient(t, redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1, DialerRetries: 1}))
	store, withdrawn := New(client), make(chan struct{}, 100)
	client.AddHook(cancelHook{sha: store.scripts.withdraw.SHA, cancel: func() {}, sent: withdrawn})
	for range 10 {
		if _, err := store.Acquire(t.Context(), ask(newTree(t), x("/a"))); !errors.Is(err, pathlock.ErrUnavailable) {
			t.Errorf("acquire: %v, want ErrUnavailable", err)
		}
	}
	if err := store.Close(t.Context()); err != nil { // what is taken back is tried once more
		t.Fatal(err)
	}
	if len(withdrawn) > 0 {
		t.Errorf("%d are taken back, want none", len(withdrawn))
	}
}

// TestRing: a redis.Ring is refused by all calls.
func TestRing(t *testing.T) {
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": "127.0.0.1:1"}, HeartbeatFrequency: time.Hour})
	defer func() { _ = ring.Close() }()
	store := closeStore(t, New(ring))
	_, err := store.Acquire(t.Context(), ask(newTree(t), x("/a")))
	for name, err := range map[string]error{"acquire": err, "ping": store.Ping(t.Context())} {
		if !errors.Is(err, errors.ErrUnsupported) || !errors.Is(err, pathlock.ErrUnavailable) {
			t.Errorf("%s: %v, want ErrUnsupported and ErrUnavailable", name, err)
		}
	}
}
