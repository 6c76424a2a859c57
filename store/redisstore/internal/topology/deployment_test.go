package topology

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock/internal/testredis"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// deployment is a way to run Redis, as tests that treat all ways alike need it.
type deployment struct {
	// client returns a new client that is closed at the end of the test.
	client func(t testing.TB) redis.UniversalClient
	// url is what redisstore.Open takes.
	url string
	// servers keep locks: the primaries and the replicas.
	servers []*testredis.Server
}

// store returns a store with a client of its own.
func (d *deployment) store(t testing.TB) *redisstore.Store {
	t.Helper()
	return open(t, d.client(t))
}

// everywhere has every running server carry out a command.
func (d *deployment) everywhere(args ...any) {
	for _, s := range d.servers {
		if s.Running() {
			s.Do(args...)
		}
	}
}

// forEach runs a test on every kind of deployment but those named, at once, each with servers of
// its own.
func forEach(t *testing.T, test func(t *testing.T, d *deployment), but ...string) {
	for name, start := range deployments() {
		if slices.Contains(but, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, start(t))
		})
	}
}

// deployments returns how each kind of deployment is started.
func deployments() map[string]func(testing.TB) *deployment {
	return map[string]func(testing.TB) *deployment{
		"single":         func(t testing.TB) *deployment { return single(t, testredis.Redis) },
		"sentinel":       func(t testing.TB) *deployment { return sentinel(testredis.StartSentinel(t, testredis.Redis)) },
		"cluster":        func(t testing.TB) *deployment { return cluster(testredis.StartCluster(t, testredis.Redis)) },
		"valkey":         func(t testing.TB) *deployment { return single(t, testredis.Valkey) },
		"valkey cluster": func(t testing.TB) *deployment { return cluster(testredis.StartCluster(t, testredis.Valkey)) },
	}
}

func single(t testing.TB, program testredis.Program) *deployment {
	server := testredis.Start(t, program)
	return &deployment{
		client:  func(testing.TB) redis.UniversalClient { return server.Client() },
		url:     fmt.Sprintf("redis://%s/0", server.Addr),
		servers: []*testredis.Server{server},
	}
}

func sentinel(s *testredis.Sentinel) *deployment {
	return &deployment{
		client:  func(testing.TB) redis.UniversalClient { return s.Client() },
		url:     fmt.Sprintf("redis+sentinel://%s@%s/0", testredis.MasterName, addrs(s.Sentinels)),
		servers: s.Nodes,
	}
}

func cluster(c *testredis.Cluster) *deployment {
	return &deployment{
		client:  func(testing.TB) redis.UniversalClient { return c.Client() },
		url:     "redis+cluster://" + addrs(c.Nodes),
		servers: c.Nodes,
	}
}

func addrs(servers []*testredis.Server) string {
	var all []string
	for _, s := range servers {
		all = append(all, s.Addr)
	}
	return strings.Join(all, ",")
}
