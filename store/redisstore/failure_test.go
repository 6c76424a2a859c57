package redisstore

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// TestMemoryFull: a server whose memory is full grants nothing, but it takes back, hands over and
// renews, and a waiter whose questions find it full keeps waiting.
func TestMemoryFull(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	store, tree := server.store(), testlock.Tree(t)
	twice := testlock.Ask(tree, x("/a"))
	again, once := more(twice, x("/a/b")), testlock.Ask(tree, x("/b"))
	for _, req := range []pathlock.Acquisition{twice, again, once} {
		testlock.Take(t, store, req)
	}
	waiter := testlock.Ask(tree, x("/a"))
	waiter.Lease = 3 * short // it asks again after a third of that
	w := testlock.Queue(t, store, waiter)
	server.Do("CONFIG", "SET", "maxmemory", "1")

	if _, err := store.Acquire(t.Context(), testlock.Ask(tree, x("/c"))); !errors.Is(err, pathlock.ErrUnavailable) || !redis.IsOOMError(err) {
		t.Errorf("acquire: %v, want ErrUnavailable because of OOM", err)
	}
	renewed(t, store, once, false)
	before := server.calls("evalsha")
	testserver.Await(t, "the waiter asks again", func() bool { return server.calls("evalsha") >= before+4 })
	for _, req := range []pathlock.Acquisition{again, twice, once} {
		testlock.Release(t, store, req)
	}
	w.Granted()
	testlock.Release(t, store, w.Acquisition)
}

// TestCloseIsBounded: a store whose server does not answer is closed within the context, and,
// whatever that is, within the time of a few commands.
func TestCloseIsBounded(t *testing.T) {
	t.Parallel()
	const timeout = 2 * time.Second
	store, proxy := distant(t, plain, WithTimeout(timeout))
	visit(t, store, testlock.Tree(t))
	proxy.Pause()
	testerr.Is(t, "acquire", testerr.Of(store.Acquire(t.Context(), testlock.Ask(testlock.Tree(t), x("/a")))), pathlock.ErrUnavailable)
	began := time.Now()
	for _, tt := range []struct {
		give time.Duration
		want error
	}{{1, context.DeadlineExceeded}, {long, nil}} {
		ctx, cancel := context.WithTimeout(t.Context(), tt.give)
		if err := store.Close(ctx); !errors.Is(err, tt.want) {
			t.Errorf("close: %v, want %v", err, tt.want)
		}
		cancel()
	}
	if took := time.Since(began); took > 6*timeout+patience/4 {
		t.Errorf("closing took %v", took)
	}
}

// TestPing_withoutRights: a server that runs no scripts for the user, or sends no messages, cannot
// serve.
func TestPing_withoutRights(t *testing.T) {
	for _, rule := range []string{"-eval", "-evalsha", "resetchannels"} {
		server := startServer(t)
		server.Do("ACL", "SETUSER", "default", rule)
		testerr.Is(t, rule, server.store().Ping(t.Context()), pathlock.ErrUnavailable)
	}
}

// TestClients_refused: a redis.Ring and a redis.AutoPipeliner are refused by all calls.
func TestClients_refused(t *testing.T) {
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": "127.0.0.1:1"}, HeartbeatFrequency: time.Hour})
	defer func() { _ = ring.Close() }()
	pipeliner, err := connect(t, plain).AutoPipeline()
	testerr.Must(t, err)
	for _, client := range []redis.UniversalClient{ring, struct{ *redis.Ring }{ring}, pipeliner} {
		store := closeStore(t, New(client))
		_, err := store.Acquire(t.Context(), testlock.Ask(testlock.Tree(t), x("/a")))
		for name, err := range map[string]error{"acquire": err, "ping": store.Ping(t.Context())} {
			if !errors.Is(err, errors.ErrUnsupported) || !errors.Is(err, pathlock.ErrUnavailable) {
				t.Errorf("%T: %s: %v, want ErrUnsupported and ErrUnavailable", client, name, err)
			}
		}
	}
}

// A command that the client sends twice is answered, and counted, once.
func TestCut(t *testing.T) {
	options, err := redis.ParseURL(testserver.Redis(t))
	testerr.Must(t, err)
	testlock.Cut(t, options.Addr, func(addr string) pathlock.Store { return openStore(t, "redis://"+addr) }, newStore(t))
}
