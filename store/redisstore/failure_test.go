package redisstore

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

func TestServerForgets(t *testing.T) {
	for _, how := range []struct {
		name   string
		forget func(*server)
	}{
		{"FLUSHALL", func(s *server) { s.Do("FLUSHALL") }},
		{"a restart", func(s *server) { s.Kill(); s.Start() }},
	} {
		t.Run(how.name, func(t *testing.T) {
			t.Parallel()
			server := startServer(t)
			store, tree := server.store(), newTree(t)
			req := ask(tree, x("/a"))
			before := take(t, store, req)
			waiter := ask(tree, x("/a"))
			waiter.Lease = 3 * short // it comes back after a third of that
			w := queue(t, store, waiter)
			how.forget(server)

			if err := store.Release(t.Context(), tree, req.Owner, req.Grant); !errors.Is(err, pathlock.ErrNotHeld) {
				t.Errorf("release of what the server forgot: %v, want ErrNotHeld", err)
			}
			lost, err := store.Renew(t.Context(), tree, []pathlock.Lease{{Owner: req.Owner, For: long}})
			if err != nil || len(lost) != 1 || lost[0] != req.Owner {
				t.Errorf("renewal of what the server forgot: lost %v, error %v; want it lost", lost, err)
			}
			if after := w.granted(); after.Fence <= before.Fence {
				t.Errorf("fence %d after %d, want it to grow", after.Fence, before.Fence)
			}
			if lost, err := store.Renew(t.Context(), tree, []pathlock.Lease{{Owner: waiter.Owner, For: long}}); err != nil || len(lost) > 0 {
				t.Errorf("renewal of the next lock: lost %v, error %v", lost, err)
			}
			release(t, store, w.req)
		})
	}
}

// TestMemoryFull: a server whose memory is full grants nothing, but it takes back, hands over and
// renews, and a waiter whose questions find it full keeps waiting.
func TestMemoryFull(t *testing.T) {
	server := startServer(t)
	store, tree := server.store(), newTree(t)
	twice := ask(tree, x("/a"))
	again, once := more(twice, x("/a/b")), ask(tree, x("/b"))
	for _, req := range []pathlock.Acquisition{twice, again, once} {
		take(t, store, req)
	}
	waiter := ask(tree, x("/a"))
	waiter.Lease = 3 * short // it asks again after a third of that
	w := queue(t, store, waiter)
	server.Do("CONFIG", "SET", "maxmemory", "1")

	if _, err := store.Acquire(t.Context(), ask(tree, x("/c"))); !errors.Is(err, pathlock.ErrUnavailable) || !redis.IsOOMError(err) {
		t.Errorf("acquire: %v, want ErrUnavailable because of OOM", err)
	}
	lost, err := store.Renew(t.Context(), tree, []pathlock.Lease{{Owner: once.Owner, For: 2 * long}})
	if err != nil || len(lost) > 0 {
		t.Errorf("renew: lost %v, error %v", lost, err)
	}
	before := server.calls("evalsha")
	testserver.Await(t, "the waiter asks again", func() bool { return server.calls("evalsha") >= before+4 })
	for _, req := range []pathlock.Acquisition{again, twice, once} {
		release(t, store, req)
	}
	w.granted()
	release(t, store, w.req)
}

func TestClosed(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	first := ask(tree, x("/a"))
	take(t, store, first)
	other := newStore(t)
	w := queue(t, other, ask(tree, x("/a")))
	if err := other.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	if _, err := w.end(); !errors.Is(err, pathlock.ErrUnavailable) {
		t.Errorf("the wait ended with %v, want ErrUnavailable", err)
	}
	if _, err := other.Acquire(t.Context(), ask(tree, x("/b"))); !errors.Is(err, pathlock.ErrUnavailable) {
		t.Errorf("acquire after Close: %v, want ErrUnavailable", err)
	}
	requireHeld(t, store, first) // the place has been given up
	release(t, store, first)
}

// TestCloseIsBounded: a store whose server does not answer is closed within the context, and,
// whatever that is, within the time of a few commands, however many calls have failed before.
func TestCloseIsBounded(t *testing.T) {
	const timeout, failed = 200 * time.Millisecond, 400
	for _, tt := range []struct {
		give time.Duration
		want error
	}{{long, nil}, {1, context.DeadlineExceeded}} {
		store, network := distant(t, true, WithTimeout(timeout))
		visit(t, store, newTree(t))
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
		began := time.Now()
		if err := store.Close(ctx); !errors.Is(err, tt.want) {
			t.Errorf("close: %v, want %v", err, tt.want)
		}
		cancel()
		if took := time.Since(began); took > 6*timeout+patience/4 {
			t.Errorf("closing took %v", took)
		}
		network.Heal()
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
