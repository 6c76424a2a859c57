package topology

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testredis"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// TestServiceComesBack measures, for each kind of deployment, how long after a fault a lock can be
// taken again: the times in docs/stores.md are what it logs. It requires that service comes back
// while what has failed is still away, where there is a replica, and once it is back, where there
// is none.
func TestServiceComesBack(t *testing.T) {
	const away = 3 * time.Second
	for _, tt := range []struct {
		name string
		// fault returns a store, whose service it disturbs when it is called; from what that
		// returns on, time is measured.
		start func(t *testing.T) (store *redisstore.Store, disturb func(key string))
	}{
		{"single, killed and restarted empty", func(t *testing.T) (*redisstore.Store, func(string)) {
			server := testredis.Start(t, testredis.Redis)
			return opened(t, "redis://"+server.Addr), func(string) { server.Kill(); time.Sleep(away); server.Start() }
		}},
		{"single, stopped for a while", func(t *testing.T) (*redisstore.Store, func(string)) {
			server := testredis.Start(t, testredis.Redis)
			return opened(t, "redis://"+server.Addr), func(string) { server.Pause(); time.Sleep(away); server.Resume() }
		}},
		{"single, its packets dropped for a while", func(t *testing.T) (*redisstore.Store, func(string)) {
			server, hole := testredis.Start(t, testredis.Redis), &blackhole{}
			client := redis.NewClient(&redis.Options{Addr: server.Addr, Dialer: hole.dial, ContextTimeoutEnabled: true, DialTimeout: time.Second, DialerRetries: 1})
			t.Cleanup(func() { _ = client.Close() })
			return open(t, client), func(string) { hole.swallow(server.Addr); time.Sleep(away); hole.swallow("") }
		}},
		{"Sentinel, the primary killed", func(t *testing.T) (*redisstore.Store, func(string)) {
			s := testredis.StartSentinel(t, testredis.Redis)
			return opened(t, sentinel(s).url), func(string) { s.Primary().Kill() }
		}},
		{"Sentinel, the primary and a sentinel stopped", func(t *testing.T) (*redisstore.Store, func(string)) {
			s := testredis.StartSentinel(t, testredis.Redis)
			return opened(t, sentinel(s).url), func(string) { primary := s.Primary(); s.Sentinels[0].Pause(); primary.Pause() }
		}},
		{"Sentinel, a failover in good order", func(t *testing.T) (*redisstore.Store, func(string)) {
			s := testredis.StartSentinel(t, testredis.Redis)
			return opened(t, sentinel(s).url), func(string) { s.Failover() }
		}},
		{"Cluster, a primary killed", func(t *testing.T) (*redisstore.Store, func(string)) {
			c := testredis.StartCluster(t, testredis.Redis)
			return opened(t, cluster(c).url), func(key string) { c.Primary(key).Kill() }
		}},
		{"Cluster, a primary stopped", func(t *testing.T) (*redisstore.Store, func(string)) {
			c := testredis.StartCluster(t, testredis.Redis)
			return opened(t, cluster(c).url), func(key string) { c.Primary(key).Pause() }
		}},
		{"Cluster, a failover in good order", func(t *testing.T) (*redisstore.Store, func(string)) {
			c := testredis.StartCluster(t, testredis.Redis)
			return opened(t, cluster(c).url), func(key string) { c.Failover(key) }
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store, disturb := tt.start(t)
			tree := newTree(t)
			before := ask(tree, x("/a"))
			take(t, store, before)
			release(t, store, before)
			others := underLoad(t, store)
			disturb(store.GateKey(tree))
			began := time.Now()
			req := ask(tree, x("/a"))
			err := persist(t, func() error {
				req = ask(tree, x("/a"))
				_, err := store.Acquire(t.Context(), req)
				return err
			})
			if err != nil {
				t.Fatalf("acquire: %v", err)
			}
			t.Logf("%s: served after %v", tt.name, time.Since(began).Round(time.Millisecond))
			others()
			// What hung when the fault ended may keep a release waiting until its own time is up.
			err = persist(t, func() error { return store.Release(t.Context(), tree, req.Owner, req.Grant) })
			if err != nil && !errors.Is(err, pathlock.ErrNotHeld) {
				t.Errorf("release: %v", err)
			}
		})
	}
}

// underLoad has a store busy, whatever its server does, until the function is called that it
// returns.
func underLoad(t *testing.T, store *redisstore.Store) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	for range 10 {
		tree := newTree(t)
		work.Go(func() {
			for ctx.Err() == nil {
				req := ask(tree, x("/a"))
				if _, err := store.Acquire(ctx, req); err == nil {
					_ = store.Release(ctx, tree, req.Owner, req.Grant) // it may fail: that is the fault
				}
			}
		})
	}
	return func() { cancel(); work.Wait() }
}

// opened returns a store of Open, which is closed at the end of the test.
func opened(t *testing.T, url string) *redisstore.Store {
	t.Helper()
	store, err := redisstore.Open(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("closing the store: %v", err)
		}
	})
	return store
}
