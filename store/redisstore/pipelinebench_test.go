package redisstore

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// BenchmarkPipeline compares ways to send what 64 goroutines have to send: each by itself, by a pipeline of this
// package, and by the client's own AutoPipeliner. The latter heeds neither the context of what it has queued nor who
// must not wait for whom, whatever its speed.
func BenchmarkPipeline(b *testing.B) {
	const goroutines = 64
	client := newClient(b)
	auto, err := client.AutoPipeline()
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = auto.Close() }()
	for _, way := range []struct {
		name    string
		process func(context.Context, lane, redis.Cmder) error
	}{
		{"alone", func(ctx context.Context, _ lane, cmd redis.Cmder) error { return client.Process(ctx, cmd) }},
		{"pipeline", newPipeline(client, DefaultTimeout).process},
		{"AutoPipeliner", func(ctx context.Context, _ lane, cmd redis.Cmder) error { return auto.Process(ctx, cmd) }},
	} {
		b.Run(way.name, func(b *testing.B) {
			store := closeStore(b, New(client))
			store.runner.process = way.process
			b.SetParallelism(goroutines / 2)
			b.RunParallel(func(pb *testing.PB) {
				req := ask(newTree(b), x("/a/b/c"))
				for pb.Next() {
					if _, err := store.Acquire(context.Background(), req); err != nil {
						b.Error(err)
						return
					}
					if err := store.Release(context.Background(), req.Tree, req.Owner, req.Grant); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// TestWhyNotAutoPipeliner: the client's own AutoPipeliner keeps who has queued something after its context has ended, and
// sends what nobody waits for any more. When that fails, it is time to look at it again.
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
