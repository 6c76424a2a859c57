package quorum_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/internal/test/testredis"
	"github.com/pathlock-go/pathlock/store/quorum"
	"github.com/pathlock-go/pathlock/store/redisstore"
	"github.com/pathlock-go/pathlock/store/storetest"
)

// TestConformance: all that a store promises holds while two of five members are down, one that
// refuses from the start and one that never answers. TestConformanceRedis has members that work.
func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) pathlock.Store {
		p := newProcesses(t, 1, memstores(5), quorum.WithTimeout(1500*time.Millisecond))[0]
		p.links[0].set(refusing)
		p.links[2].set(hanging)
		// A question to all members finds out which of them are down.
		testerr.Must(t, testerr.Of(p.store.Snapshot(t.Context(), testlock.Tree(t))))
		return p.store
	}, storetest.Virtual())
}

// TestConformance_slowMember: everybody sees the same while one process is so slow at a member that
// the member has and keeps grants that no majority has.
func TestConformance_slowMember(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) pathlock.Store { return newQuorum(t, memstores(3)) },
		storetest.Virtual(), storetest.Crash(func(t *testing.T) (survivor, victim pathlock.Store, crash func()) {
			stores := memstores(3)
			links, members := links(stores)
			members[2] = slow{links[2]}
			t.Cleanup(func() { heal([]process{{links: links}}) })
			return newQuorum(t, stores), newQuorum(t, members, quorum.WithTimeout(timeout)), func() {
				for _, l := range links {
					l.set(hanging)
				}
			}
		}))
}

// slow is a link that passes on acquisitions and releases late, though in time for an answer.
type slow struct{ *link }

const slowness = 3 * timeout / 5

func (s slow) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	time.Sleep(slowness)
	// Data on its way arrives.
	return s.link.Acquire(context.WithoutCancel(ctx), req)
}

func (s slow) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	time.Sleep(slowness)
	return s.link.Release(ctx, tree, owner, id)
}

// redisMembers returns a store on each of the servers, as one process has them.
func redisMembers(t testing.TB, servers []*testredis.Server, through func(*testredis.Server) (addr string)) []pathlock.Store {
	t.Helper()
	var members []pathlock.Store
	for _, server := range servers {
		client := redis.NewClient(&redis.Options{Addr: through(server), ContextTimeoutEnabled: true})
		store := redisstore.New(client)
		t.Cleanup(func() {
			testerr.Is(t, "closing a member", store.Close(context.WithoutCancel(t.Context())), nil)
			testerr.Is(t, "closing a client", client.Close(), nil)
		})
		members = append(members, store)
	}
	return members
}

func TestConformanceRedis(t *testing.T) {
	t.Parallel()
	var servers []*testredis.Server
	for range 3 {
		servers = append(servers, testredis.Start(t, testredis.Redis))
	}
	newStore := func(t *testing.T) pathlock.Store {
		return newQuorum(t, redisMembers(t, servers, func(s *testredis.Server) string { return s.Addr }), quorum.WithTimeout(generous))
	}
	storetest.Run(t, newStore, storetest.Crash(func(t *testing.T) (survivor, victim pathlock.Store, crash func()) {
		var proxies []*testnet.Proxy
		victim = newQuorum(t, redisMembers(t, servers, func(s *testredis.Server) string {
			proxies = append(proxies, testnet.StartProxy(t, s.Addr, 0))
			return proxies[len(proxies)-1].Addr()
		}), quorum.WithTimeout(generous))
		t.Cleanup(func() {
			for _, p := range proxies {
				p.Resume()
			}
		})
		return newStore(t), victim, func() {
			for _, p := range proxies {
				p.Pause()
			}
		}
	}), storetest.Leases(time.Second))
}
