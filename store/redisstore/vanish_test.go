package redisstore

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testnet"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/redisstore/internal/calls"
)

// distant returns a store whose network can vanish. Everything else is as go-redis has it by
// default.
func distant(t *testing.T, punctual bool, opts ...Option) (*Store, *testnet.Network) {
	t.Helper()
	options, err := redis.ParseURL(testserver.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	n := testnet.NewNetwork()
	options.Dialer, options.ContextTimeoutEnabled = n.Dial, punctual
	store := closeStore(t, New(closeClient(t, redis.NewClient(options)), opts...))
	t.Cleanup(n.Heal)
	return store, n
}

// TestHostVanishes: a call ends within its time when the packets of its host are dropped, whether
// the client has connections or has to dial, and the store serves again when they pass again.
func TestHostVanishes(t *testing.T) {
	const timeout = 200 * time.Millisecond
	for _, tt := range []struct {
		name      string
		connected bool
		punctual  bool
	}{
		{"while it is connected", true, true},
		{"before it is dialled", false, true},
		{"before it is dialled, by a client that heeds no deadlines", false, false},
		{"while it is connected, by a client that heeds no deadlines", true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store, network := distant(t, tt.punctual, WithTimeout(timeout))
			tree := newTree(t)
			if tt.connected {
				if err := store.Ping(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			network.Vanish()
			waits := ask(tree, x("/waits"))
			waits.Wait = long
			for name, do := range map[string]func(context.Context) error{
				"an acquisition":            func(ctx context.Context) error { _, err := store.Acquire(ctx, ask(tree, x("/a"))); return err },
				"an acquisition that waits": func(ctx context.Context) error { _, err := store.Acquire(ctx, waits); return err },
				"a release":                 func(ctx context.Context) error { return store.Release(ctx, tree, "o", "g") },
				"a snapshot":                func(ctx context.Context) error { _, err := store.Snapshot(ctx, tree); return err },
				"the trees":                 func(ctx context.Context) error { _, err := store.Trees(ctx); return err },
				"a ping":                    func(ctx context.Context) error { return store.Ping(ctx) },
			} {
				for bound, within := range map[string]time.Duration{"the store's": long, "the context's": timeout / 2} {
					ctx, cancel := context.WithTimeout(t.Context(), within)
					began := time.Now()
					err := do(ctx)
					cancel()
					if took := time.Since(began); took > min(within, timeout)+calls.GracePeriod+patience/2 {
						t.Errorf("%s took %v, with a bound of %v that is %s", name, took, min(within, timeout), bound)
					}
					if !errors.Is(err, pathlock.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("%s: %v, want ErrUnavailable", name, err)
					}
				}
			}
			network.Heal()
			over := time.Now().Add(patience)
			for store.Ping(t.Context()) != nil {
				if time.Now().After(over) {
					t.Fatal("the store does not serve again")
				}
			}
			next := ask(tree, x("/a"))
			take(t, store, next)
			release(t, store, next)
		})
	}
}
