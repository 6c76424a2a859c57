package redisstore

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

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
	for took, tries := 2*lag, 0; took >= 2*lag; tries++ {
		if tries == 10 { // on a busy machine, not every one need be in time
			t.Fatalf("it ended %v after the deadline, want less than %v", took, 2*lag)
		}
		deadline := time.Now().Add(2 * time.Second)
		ctx, cancel := context.WithDeadline(t.Context(), deadline)
		second := ask(tree, x("/a"))
		second.Wait, second.Waiting = long, func() { late.Store(int64(lag)) }
		_, err = store.Acquire(ctx, second)
		took = time.Since(deadline)
		late.Store(0)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || took < 0 {
			t.Errorf("%v after %v, want the end of the context", err, took)
		}
	}
	release(t, store, first)
}
