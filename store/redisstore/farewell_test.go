package redisstore

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

// lagging is a connection whose answers come late.
type lagging struct {
	net.Conn
	lag *atomic.Int64 // nanoseconds
}

func (l *lagging) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	time.Sleep(time.Duration(l.lag.Load()))
	return n, err
}

// TestFarewellIsOne: at its deadline a waiter leaves the queue, and asks who is in the way. Both
// questions share one time, however late the answers come.
func TestFarewellIsOne(t *testing.T) {
	const lag = 450 * time.Millisecond // each answer by itself would be in time
	options, err := redis.ParseURL(testserver.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	var late atomic.Int64
	options.Dialer = func(ctx context.Context, kind, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, kind, addr)
		return &lagging{conn, &late}, err
	}
	store, tree := closeStore(t, New(closeClient(t, redis.NewClient(options)))), newTree(t)
	first := ask(tree, x("/a"))
	take(t, store, first)
	deadline := time.Now().Add(2 * time.Second)
	ctx, cancel := context.WithDeadline(t.Context(), deadline)
	defer cancel()
	second := ask(tree, x("/a"))
	second.Wait, second.Waiting = long, func() { late.Store(int64(lag)) }
	_, err = store.Acquire(ctx, second)
	took := time.Since(deadline)
	late.Store(0)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want the end of the context", err)
	}
	if took < 0 || took >= 2*lag {
		t.Errorf("it ended %v after the deadline, want less than %v", took, 2*lag)
	}
	release(t, store, first)
}

// TestUnknownMessage: a message of a kind that this version does not know is no loss.
func TestUnknownMessage(t *testing.T) {
	store, tree := newStore(t, WithPrefix("unknown message")), newTree(t)
	first := ask(tree, x("/a"))
	take(t, store, first)
	w := queue(t, store, ask(tree, x("/a")))
	// The store's first waiter has the reference 1, and no question has a larger number than this.
	if err := store.client.Publish(t.Context(), store.listener.Channel(tree), "novel 1.18446744073709551615").Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.end(); !errors.Is(err, pathlock.ErrUnavailable) || errors.Is(err, pathlock.ErrLost) {
		t.Errorf("%v, want ErrUnavailable", err)
	}
	snapshot, err := store.Snapshot(t.Context(), tree)
	if err != nil || len(snapshot.Waiters) > 0 {
		t.Errorf("still waiting: %v, error %v", snapshot.Waiters, err)
	}
	release(t, store, first)
}
