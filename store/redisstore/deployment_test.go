package redisstore

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testredis"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// deployment is a way to run Redis. If it has replicas, the primary of a key can be failed over.
type deployment struct {
	// url is what Open takes.
	url string
	// servers keep locks: the primaries and the replicas.
	servers  []*testredis.Server
	primary  func(key string) *testredis.Server
	replicas func(key string) []*testredis.Server
	// failover makes a replica the primary in good order, await returns when one has taken the
	// place of another.
	failover func(key string)
	await    func(key string, old *testredis.Server)
}

// startServer starts a single server of a test's own, for tests that disturb it.
func startServer(t testing.TB) *server {
	t.Helper()
	return &server{testredis.Start(t, testredis.Redis), t}
}

// server is a Redis of a test's own.
type server struct {
	*testredis.Server
	t testing.TB
}

// store returns a store that is closed at the end of the test.
func (s *server) store(opts ...Option) *store {
	return closeStore(s.t, New(s.Client(), testlock.Patiently(WithTimeout, opts)...))
}

// calls returns how often the server has carried out a command.
func (s *server) calls(command string) int {
	s.t.Helper()
	about, _, _ := strings.Cut(s.Info("commandstats", "cmdstat_"+command), ",")
	n, _ := strconv.Atoi(strings.TrimPrefix(about, "calls="))
	return n
}

func single(t testing.TB) *deployment {
	server := testredis.Start(t, testredis.Redis)
	return &deployment{url: fmt.Sprintf("redis://%s/0", server.Addr), servers: []*testredis.Server{server}}
}

func sentinel(s *testredis.Sentinel) *deployment {
	return &deployment{
		url:      fmt.Sprintf("redis+sentinel://%s@%s/0", testredis.MasterName, addrs(s.Sentinels)),
		servers:  s.Nodes,
		primary:  func(string) *testredis.Server { return s.Primary() },
		replicas: func(string) []*testredis.Server { return s.Replicas() },
		failover: func(string) { s.Failover() },
		await:    func(_ string, old *testredis.Server) { s.AwaitFailover(old) },
	}
}

func cluster(c *testredis.Cluster) *deployment {
	return &deployment{
		url:      "redis+cluster://" + addrs(c.Nodes),
		servers:  c.Nodes,
		primary:  c.Primary,
		replicas: func(key string) []*testredis.Server { return []*testredis.Server{c.Replica(key)} },
		failover: c.Failover,
		await:    c.AwaitFailover,
	}
}

func addrs(servers []*testredis.Server) string {
	var all []string
	for _, s := range servers {
		all = append(all, s.Addr)
	}
	return strings.Join(all, ",")
}

// forEach runs a test on the named kinds of deployments, at once, each with servers of its own.
func forEach(t *testing.T, kinds []string, test func(t *testing.T, d *deployment)) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			switch kind {
			case "sentinel":
				test(t, sentinel(testredis.StartSentinel(t, testredis.Redis)))
			case "cluster":
				test(t, cluster(testredis.StartCluster(t, testredis.Redis)))
			default:
				test(t, single(t))
			}
		})
	}
}

var replicated = []string{"sentinel", "cluster"}

// open returns a store of Open, which is closed at the end of the test.
func (d *deployment) open(t testing.TB) *store { t.Helper(); return openStore(t, d.url) }

func openStore(t testing.TB, url string) *store {
	t.Helper()
	store, err := Open(url)
	testerr.Must(t, err)
	return closeStore(t, store)
}

// everywhere makes every server execute a command.
func (d *deployment) everywhere(args ...any) {
	for _, s := range d.servers {
		s.Do(args...)
	}
}

// persist repeats something until the store serves, as a program that is told ErrUnavailable would,
// and returns how it ended.
func persist(t testing.TB, do func() error) error {
	t.Helper()
	var err error
	testserver.Await(t, "the store serves", func() bool {
		err = do()
		return !errors.Is(err, pathlock.ErrUnavailable)
	})
	return err
}

// renewed requires that an owner still holds, or has lost, what it had.
func renewed(t testing.TB, store *store, req pathlock.Acquisition, wantLost bool) {
	t.Helper()
	var lost []pathlock.Owner
	err := persist(t, func() (err error) {
		lost, err = store.Renew(t.Context(), req.Tree, []pathlock.Lease{{Owner: req.Owner, For: long}})
		return err
	})
	if err != nil || slices.Contains(lost, req.Owner) != wantLost {
		t.Fatalf("renew: lost %v, error %v; want it lost: %v", lost, err, wantLost)
	}
}

// gaveBack gives a grant back, as soon as the store serves. An earlier try may have been carried
// out.
func gaveBack(t testing.TB, store *store, req pathlock.Acquisition) {
	t.Helper()
	err := persist(t, func() error { return store.Release(t.Context(), req.Tree, req.Owner, req.Grant) })
	if err != nil && !errors.Is(err, pathlock.ErrNotHeld) {
		t.Fatalf("release: %v", err)
	}
}

// rises requires that a grant's fence is higher than an earlier one's.
func rises(t testing.TB, earlier, later pathlock.Grant) {
	t.Helper()
	if later.Fence <= earlier.Fence {
		t.Errorf("fence %d after %d, want it to rise", later.Fence, earlier.Fence)
	}
}

// TestSubscriptions: a process subscribes on one connection, however many trees it waits in. When
// that is lost, messages are lost with it, and the waiters ask again.
func TestSubscriptions(t *testing.T) {
	const trees = 10
	forEach(t, []string{"single", "cluster"}, func(t *testing.T, d *deployment) {
		ours, theirs := d.open(t), d.open(t)
		for _, killed := range []bool{false, true} {
			var waiters []*testlock.Waiting
			var held []pathlock.Acquisition
			for i := range trees {
				held = append(held, testlock.Ask(testlock.Tree(t), x("/a")))
				testlock.Take(t, ours, held[i])
				waiters = append(waiters, testlock.Queue(t, theirs, testlock.Ask(held[i].Tree, x("/a"))))
			}
			connections := 0
			for _, s := range d.servers {
				connections += strings.Count(s.Text("CLIENT", "LIST", "TYPE", "pubsub"), "\n")
			}
			if connections != 1 {
				t.Errorf("%d connections that subscribe for waiters in %d trees, want one", connections, trees)
			}
			if killed {
				d.everywhere("CLIENT", "KILL", "TYPE", "pubsub")
			}
			for i, w := range waiters {
				testlock.Release(t, ours, held[i])
				w.Granted()
				testlock.Release(t, theirs, w.Acquisition)
			}
		}
	})
}
