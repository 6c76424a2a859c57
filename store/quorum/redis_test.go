package quorum_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testnet"
	"github.com/pathlock-go/pathlock/internal/testredis"
	"github.com/pathlock-go/pathlock/store/quorum"
	"github.com/pathlock-go/pathlock/store/redisstore"
	"github.com/pathlock-go/pathlock/store/storetest"
)

// startRedis starts three independent servers.
func startRedis(t testing.TB) []*testredis.Server {
	t.Helper()
	servers := make([]*testredis.Server, 3)
	for i := range servers {
		servers[i] = testredis.Start(t, testredis.Redis)
	}
	return servers
}

// redisMembers returns a store on each of the servers, as one process has them.
func redisMembers(t testing.TB, servers []*testredis.Server, change ...func(*redis.Options)) []pathlock.Store {
	t.Helper()
	var members []pathlock.Store
	for _, server := range servers {
		// As redisstore.Open has it.
		options := &redis.Options{Addr: server.Addr, ContextTimeoutEnabled: true, DialTimeout: time.Second, DialerRetries: 1}
		for _, f := range change {
			f(options)
		}
		client := redis.NewClient(options)
		store := redisstore.New(client)
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), generous)
			defer cancel()
			if err := store.Close(ctx); err != nil {
				t.Errorf("closing a member: %v", err)
			}
			if err := client.Close(); err != nil {
				t.Errorf("closing a client: %v", err)
			}
		})
		members = append(members, store)
	}
	return members
}

func TestConformanceRedis(t *testing.T) {
	servers := startRedis(t)
	storetest.Run(t, func(t *testing.T) pathlock.Store {
		return newQuorum(t, redisMembers(t, servers), quorum.WithTimeout(generous))
	}, storetest.Crash(func(t *testing.T) (survivor, victim pathlock.Store, crash func()) {
		network := testnet.NewNetwork()
		members := redisMembers(t, servers, func(o *redis.Options) { o.Dialer = network.Dial })
		victim = newQuorum(t, members, quorum.WithTimeout(500*time.Millisecond))
		t.Cleanup(network.Heal)
		return newQuorum(t, redisMembers(t, servers), quorum.WithTimeout(generous)), victim, network.Vanish
	}), storetest.Leases(busy))
}

// findSilent returns when the store has noticed which members are down: a question to all of them
// has been answered.
func findSilent(t *testing.T, s *quorum.Store) {
	t.Helper()
	if _, err := s.Snapshot(t.Context(), newTree(t)); err != nil {
		t.Fatal(err)
	}
}
