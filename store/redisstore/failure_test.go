package redisstore

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
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

// A server whose memory is full grants nothing, but it takes back, and it renews.
func TestMemoryFull(t *testing.T) {
	server := startServer(t)
	store, tree := server.store(), newTree(t)
	twice := ask(tree, x("/a"))
	again := more(twice, x("/a/b"))
	once := ask(tree, x("/b"))
	for _, req := range []pathlock.Acquisition{twice, again, once} {
		take(t, store, req)
	}
	w := queue(t, store, ask(tree, x("/a")))
	server.Do("CONFIG", "SET", "maxmemory", "1")

	if _, err := store.Acquire(t.Context(), ask(tree, x("/c"))); !errors.Is(err, pathlock.ErrUnavailable) || !redis.IsOOMError(err) {
		t.Errorf("acquire: %v, want ErrUnavailable because of OOM", err)
	}
	lost, err := store.Renew(t.Context(), tree, []pathlock.Lease{{Owner: once.Owner, For: 2 * long}})
	if err != nil || len(lost) > 0 {
		t.Errorf("renew: lost %v, error %v", lost, err)
	}
	release(t, store, again)
	release(t, store, twice)
	release(t, store, once)
	w.granted()
	release(t, store, w.req)
}

// A waiter whose heartbeats find the server full keeps waiting.
func TestMemoryFullWhileWaiting(t *testing.T) {
	server := startServer(t)
	store, tree := server.store(), newTree(t)
	first := ask(tree, x("/a"))
	take(t, store, first)
	waiter := ask(tree, x("/a"))
	waiter.Lease = 3 * short
	w := queue(t, store, waiter)
	server.Do("CONFIG", "SET", "maxmemory", "1")
	over := time.Now().Add(patience)
	for before := server.calls("evalsha"); server.calls("evalsha") < before+6; {
		select {
		case <-w.over:
			t.Fatalf("the wait ended with %v", w.err)
		default:
		}
		if time.Now().After(over) {
			t.Fatal("the waiter does not ask any more")
		}
		time.Sleep(short / 10)
	}
	server.Do("CONFIG", "SET", "maxmemory", "0")
	release(t, store, first)
	w.granted()
	release(t, store, w.req)
}

// A server with another policy than noeviction drops locks when its memory is full. Their owners
// are told.
func TestEvicted(t *testing.T) {
	server := startServer(t)
	store, tree := server.store(), newTree(t)
	req := ask(tree, x("/a"))
	take(t, store, req)
	server.Do("CONFIG", "SET", "maxmemory-policy", "volatile-lru")
	server.Do("CONFIG", "SET", "maxmemory", "1")
	lost, err := store.Renew(t.Context(), tree, []pathlock.Lease{{Owner: req.Owner, For: long}})
	if err != nil || len(lost) != 1 || lost[0] != req.Owner {
		t.Errorf("renew: lost %v, error %v; want %s lost", lost, err, req.Owner)
	}
	if err := store.Release(t.Context(), tree, req.Owner, req.Grant); !errors.Is(err, pathlock.ErrNotHeld) {
		t.Errorf("release: %v, want ErrNotHeld", err)
	}
}

func TestReplicaCannotServe(t *testing.T) {
	server := startServer(t)
	store, tree := server.store(), newTree(t)
	server.Do("REPLICAOF", "127.0.0.1", "1")
	if err := store.Ping(t.Context()); !errors.Is(err, pathlock.ErrUnavailable) {
		t.Errorf("ping: %v, want ErrUnavailable", err)
	}
	if _, err := store.Acquire(t.Context(), ask(tree, x("/a"))); !errors.Is(err, pathlock.ErrUnavailable) {
		t.Errorf("acquire: %v, want ErrUnavailable", err)
	}
	// Closing the store waits until what may have been acquired for nobody is withdrawn, or its
	// lease has ended.
	server.Do("REPLICAOF", "NO", "ONE")
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
	if snapshot, err := store.Snapshot(t.Context(), tree); err != nil || len(snapshot.Waiters) > 0 {
		t.Errorf("waiters %v, error %v; want the place given up", snapshot.Waiters, err)
	}
	release(t, store, first)
}
