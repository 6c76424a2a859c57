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
	"github.com/pathlock-go/pathlock/store/redisstore/internal/pubsub"
)

// TestListenerFollowsTheClient: the client goes to another server, and the old one keeps the
// connection of the subscription, and answers on it. Waiters hear from the new one soon.
func TestListenerFollowsTheClient(t *testing.T) {
	old, next := startServer(t), startServer(t)
	var current atomic.Pointer[server]
	current.Store(old)
	store := closeStore(t, New(closeClient(t, redis.NewClient(&redis.Options{
		Addr: old.addr, ContextTimeoutEnabled: true,
		Dialer: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, current.Load().addr)
		},
	}))))
	tree := newTree(t)
	take(t, store, ask(tree, x("/a")))
	w := queue(t, store, ask(tree, x("/a")))

	there := next.store()
	first := ask(tree, x("/a"))
	take(t, there, first)
	current.Store(next)
	old.do("CLIENT", "KILL", "TYPE", "normal")
	over := time.Now().Add(2 * patience)
	for queued := 0; queued == 0; {
		snapshot, err := there.Snapshot(t.Context(), tree)
		if err != nil {
			t.Fatal(err)
		}
		if queued = len(snapshot.Waiters); time.Now().After(over) {
			t.Fatal("the waiter still listens to the old server")
		}
		time.Sleep(pubsub.Pulse / 100)
	}
	release(t, there, first)
	w.granted()
	release(t, store, w.req)
}

// TestEchoesAreHeard: a subscription that is where messages go is kept, however long nothing
// happens.
func TestEchoesAreHeard(t *testing.T) {
	server := startServer(t)
	store, tree := server.store(), newTree(t)
	first := ask(tree, x("/a"))
	take(t, store, first)
	w := queue(t, store, ask(tree, x("/a")))
	over := time.Now().Add(3 * patience)
	for server.calls("publish") < 3 {
		if time.Now().After(over) {
			t.Fatal("nothing is published to see whether it is heard")
		}
		time.Sleep(pubsub.Pulse / 10)
	}
	if n := server.calls("subscribe"); n != 1 {
		t.Errorf("subscribed %d times, want once", n)
	}
	release(t, store, first)
	w.granted()
	release(t, store, w.req)
}

// TestScriptsFlushedAllTheTime: a script that is flushed between its loading and its call is loaded
// again, for as long as the call has time.
func TestScriptsFlushedAllTheTime(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: startServer(t).addr, ContextTimeoutEnabled: true})
	flushes := &flusher{client: redis.NewClient(client.Options())}
	client.AddHook(flushes)
	store := closeStore(t, New(closeClient(t, client)))
	closeClient(t, flushes.client)
	flushes.left.Store(10)
	req := ask(newTree(t), x("/a"))
	take(t, store, req)
	release(t, store, req)

	flushes.left.Store(1 << 30)
	ctx, cancel := context.WithTimeout(t.Context(), short)
	defer cancel()
	if _, err := store.Acquire(ctx, req); !errors.Is(err, pathlock.ErrUnavailable) {
		t.Errorf("acquire where scripts are flushed for ever: %v, want ErrUnavailable", err)
	}
	flushes.left.Store(0)
}

// flusher flushes a server's scripts before each of so many calls.
type flusher struct {
	client *redis.Client
	left   atomic.Int32
}

func (f *flusher) DialHook(next redis.DialHook) redis.DialHook { return next }

func (f *flusher) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (f *flusher) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "evalsha" && f.left.Add(-1) >= 0 {
			if err := f.client.ScriptFlush(context.WithoutCancel(ctx)).Err(); err != nil {
				return err
			}
		}
		return next(ctx, cmd)
	}
}
