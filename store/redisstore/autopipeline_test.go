package redisstore

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// TestWhyNotAutoPipeliner: the client's own AutoPipeliner keeps who has queued something after its
// context has ended, and sends what nobody waits for any more. When that fails, it is time to look
// at it again.
func TestWhyNotAutoPipeliner(t *testing.T) {
	server := startServer(t)
	client := closeClient(t, redis.NewClient(&redis.Options{Addr: server.addr, ContextTimeoutEnabled: true}))
	auto, err := client.AutoPipeline()
	if err != nil {
		t.Fatal(err)
	}
	if err := auto.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	server.signal(syscall.SIGSTOP)
	under := make(chan struct{})
	go func() { defer close(under); auto.Set(context.Background(), "first", "1", 0) }()
	ctx, cancel := context.WithTimeout(t.Context(), short/3)
	defer cancel()
	over := make(chan struct{})
	go func() { defer close(over); auto.Set(ctx, "second", "1", 0) }()
	<-ctx.Done()
	select {
	case <-over:
		t.Error("a command left when its context ended")
	case <-time.After(short):
	}
	server.signal(syscall.SIGCONT)
	<-under
	<-over
	if n, err := client.Exists(t.Context(), "second").Result(); err != nil || n != 1 {
		t.Errorf("what nobody waited for any more was not sent: %d, %v", n, err)
	}
	if err := auto.Close(); err != nil {
		t.Error(err)
	}
}
