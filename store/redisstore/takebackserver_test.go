package redisstore

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// hung returns a store whose server hangs.
func hung(t *testing.T, timeout time.Duration) (*server, *Store) {
	server := startServer(t)
	client := closeClient(t, redis.NewClient(&redis.Options{Addr: server.Addr, MaxRetries: -1, ContextTimeoutEnabled: true}))
	store := closeStore(t, New(client, WithTimeout(timeout)))
	// All scripts are there, and so is the connection.
	warm := ask(newTree(t), x("/a"))
	take(t, server.store(), warm)
	if err := server.store().withdraw(t.Context(), keyOf(warm), 0); err != nil {
		t.Fatal(err)
	}
	if err := store.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	server.Pause()
	return server, store
}

// TestTakeBackNotOfWhatIsMadeAgain: a request that fails and is made again, and then granted, stays
// granted.
func TestTakeBackNotOfWhatIsMadeAgain(t *testing.T) {
	server, store := hung(t, time.Second)
	again := ask(newTree(t), x("/a"))
	if _, err := store.Acquire(t.Context(), again); !errors.Is(err, pathlock.ErrUnavailable) {
		t.Fatalf("acquire: %v, want ErrUnavailable", err)
	}
	server.Resume()
	for {
		_, err := store.Acquire(t.Context(), again)
		if err == nil {
			break
		}
		if errors.Is(err, errWithdrawn) {
			// It has been taken back first, and stays so.
			snapshot, err := server.store().Snapshot(t.Context(), again.Tree)
			if err != nil || len(snapshot.Holders)+len(snapshot.Waiters) > 0 {
				t.Errorf("%v, error %v; want that nobody holds or waits", snapshot, err)
			}
			return
		}
		if !errors.Is(err, pathlock.ErrUnavailable) {
			t.Fatal(err)
		}
	}
	if err := store.Close(context.WithoutCancel(t.Context())); err != nil { // after a last try of all that there is to take back
		t.Fatal(err)
	}
	requireHeld(t, server.store(), again)
}

// TestTakeBackOutlivesTheLease: a server that hung for longer than the lease grants what it still
// has before itself, and that is given back.
func TestTakeBackOutlivesTheLease(t *testing.T) {
	t.Parallel()
	server, store := hung(t, time.Second)
	lost := ask(newTree(t), x("/a"))
	lost.Lease = 3 * time.Second
	if _, err := store.Acquire(t.Context(), lost); !errors.Is(err, pathlock.ErrUnavailable) {
		t.Errorf("acquire: %v, want ErrUnavailable", err)
	}
	time.Sleep(2 * lost.Lease)
	server.Resume()
	resumed := time.Now()
	next := ask(lost.Tree, x("/a"))
	next.Wait = long
	take(t, server.store(), next)
	if took := time.Since(resumed); took > lost.Lease-time.Second/2 {
		t.Errorf("it was free after %v", took)
	}
}
