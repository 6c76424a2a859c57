package doctor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9/logging"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/doctor"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testetcd"
	"github.com/pathlock-go/pathlock/internal/test/testredis"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/internal/test/testzk"
	"github.com/pathlock-go/pathlock/store/etcdstore"
)

func TestMain(m *testing.M) {
	logging.Disable()
	goleak.VerifyTestMain(m)
}

// examine examines a subject.
func examine(t *testing.T, s doctor.Subject) doctor.Report {
	t.Helper()
	s.Kinds = doctor.Stores
	r, err := doctor.Examine(t.Context(), s)
	testerr.Must(t, err)
	return r
}

// locks examines a lock store.
func locks(t *testing.T, url string, patience ...time.Duration) doctor.Report {
	t.Helper()
	return examine(t, doctor.Subject{Locks: url, Patience: append(patience, 0)[0]})
}

// want requires a finding of a check at a level whose text contains something, and returns it.
func want(t *testing.T, r doctor.Report, level doctor.Level, check, contains string) doctor.Finding {
	t.Helper()
	var others []string
	for _, f := range r.Findings {
		if f.Check == check && f.Level == level && strings.Contains(f.About+" "+f.Is+" "+f.Means, contains) {
			if level != doctor.Fine && f.Means == "" {
				t.Errorf("%s does not say what it means", check)
			}
			return f
		}
		others = append(others, strings.Join([]string{f.Level.String(), f.About, f.Check, f.Is}, ": "))
	}
	t.Errorf("there is no finding of %q at level %v about %q; there are\n%s", check, level, contains, strings.Join(others, "\n"))
	return doctor.Finding{}
}

func TestZooKeeper(t *testing.T) {
	t.Parallel()
	servers := testzk.StartEnsemble(t)
	url := "zk://" + servers.Hosts() + "/locks"
	r := locks(t, url)
	want(t, r, doctor.Fine, "trial", "handed over")
	servers.Follower().Kill()
	servers.Leader().Kill()
	for _, s := range servers.Servers {
		testserver.Await(t, "no server serves", func() bool { return s.Mode() == "" })
	}
	want(t, locks(t, url, time.Second), doctor.Problem, "answer", "nothing is granted")
}

func TestEtcd(t *testing.T) {
	t.Parallel()
	t.Run("alone", func(t *testing.T) {
		t.Parallel()
		server := testetcd.Start(t)
		r := locks(t, "etcd://"+server.Addr)
		want(t, r, doctor.Fine, "version", "etcd 3.")
		want(t, r, doctor.Warning, "members", "one member")
		want(t, r, doctor.Fine, "trial", "handed over")
		store, err := etcdstore.Open("etcd://" + server.Addr)
		testerr.Must(t, err)
		defer func() { _ = store.Close(t.Context()) }()
		auth := store.(interface{ Client() *clientv3.Client }).Client()
		for _, user := range []string{"root", "locks"} { // the latter without rights
			testerr.Must(t, testerr.Of(auth.UserAdd(t.Context(), user, "secret")))
			testerr.Must(t, testerr.Of(auth.RoleAdd(t.Context(), user)))
			testerr.Must(t, testerr.Of(auth.UserGrantRole(t.Context(), user, user)))
		}
		testerr.Must(t, testerr.Of(auth.AuthEnable(t.Context())))
		want(t, locks(t, "etcd://locks:wrong@"+server.Addr), doctor.Problem, "answer", "refuses the user or the password")
		f := want(t, locks(t, "etcd://locks:secret@"+server.Addr), doctor.Problem, "service", "does not let the user")
		if !strings.Contains(f.Change, "readwrite") || strings.Contains(f.Change, "secret") {
			t.Errorf("the change is %q", f.Change)
		}
	})
	t.Run("full", func(t *testing.T) {
		t.Parallel()
		server := testetcd.Start(t, "--quota-backend-bytes", "1")
		if f := want(t, locks(t, "etcd://"+server.Addr), doctor.Problem, "service", "is out of space"); !strings.Contains(f.Change, "alarm disarm") {
			t.Errorf("the change is %q", f.Change)
		}
	})
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		members := testetcd.StartCluster(t, 3)
		url := "etcd://" + strings.Join(members.Addrs(), ",")
		r := locks(t, url)
		want(t, r, doctor.Fine, "members", "there are 3")
		members[2].Kill()
		want(t, locks(t, url, 10*time.Second), doctor.Warning, "member", members[2].Addr) // it may have been the leader
	})
}

// A minority of a quorum's members may have problems, and a majority may not.
func TestQuorum(t *testing.T) {
	t.Parallel()
	var servers []*testredis.Server
	var urls []string
	for range 3 {
		server := testredis.Start(t, testredis.Redis, "--appendonly", "yes")
		servers, urls = append(servers, server), append(urls, urlOf(server))
	}
	all := "quorum:" + strings.Join(urls, "|")
	r := locks(t, all)
	want(t, r, doctor.Fine, "trial", "the quorum")
	want(t, r, doctor.Fine, "replicas", "stand in")
	servers[2].Kill()
	r = locks(t, all)
	want(t, r, doctor.Warning, "answer", servers[2].Addr)
	want(t, r, doctor.Warning, "members", "0 more members may fail")
	want(t, r, doctor.Fine, "trial", "the quorum")
	if r.Unanswered() || slices.ContainsFunc(r.Findings, func(f doctor.Finding) bool { return f.Level == doctor.Problem }) {
		t.Error("one of three members is held to be all that matters")
	}
	servers[0].Kill()
	r = locks(t, all, time.Second)
	want(t, r, doctor.Problem, "members", "2 of 3 with problems: [1 3]")
	if !r.Unanswered() {
		t.Error("the report does not say that the quorum does not answer")
	}
}

func urlOf(s *testredis.Server) string { return "redis://" + s.Addr + "/0" }

// One setting that harms, or helps, is found.
func TestRedisSettings(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t, testredis.Redis)
	for _, c := range []struct {
		set             string // besides the defaults
		level           doctor.Level
		check, contains string
	}{
		{"", doctor.Fine, "trial", "handed over"},
		{"", doctor.Fine, "version", "7."},
		{"appendonly yes", doctor.Fine, "persistence", "appendfsync is everysec"},
		{"appendonly yes appendfsync no", doctor.Warning, "persistence", "loses the locks"},
		{"appendonly no", doctor.Warning, "persistence", "two owners may hold the same node"},
		{"maxmemory 100mb maxmemory-policy allkeys-lru", doctor.Problem, "eviction", "allkeys-lru"},
		{"maxmemory-policy allkeys-lru", doctor.Warning, "eviction", "as soon as somebody sets a limit"},
		{"maxmemory 100mb", doctor.Fine, "eviction", "noeviction"},
		{"maxmemory 1kb", doctor.Problem, "trial", "out of memory"},
	} {
		for _, settings := range []string{"appendonly no appendfsync everysec maxmemory 0 maxmemory-policy noeviction", c.set} {
			for pair := range slices.Chunk(strings.Fields(settings), 2) {
				server.Do("CONFIG", "SET", pair[0], pair[1])
			}
		}
		t.Run(c.set+" "+c.check, func(t *testing.T) {
			if f := want(t, locks(t, urlOf(server)), c.level, c.check, c.contains); strings.Contains(f.Change, "other findings") {
				t.Errorf("says %s, and there are none", f.Change)
			}
		})
	}
}

// A primary that may be cut off from its replicas is found, and one that then stops granting is
// not.
func TestRedisReplicas(t *testing.T) {
	t.Parallel()
	servers := testredis.StartReplicated(t, testredis.Valkey, 1)
	primary, replica := servers.Primary, servers.Replicas[0]
	want(t, locks(t, urlOf(primary)), doctor.Warning, "replicas", "min-replicas-to-write is 0")
	primary.Do("CONFIG", "SET", "min-replicas-to-write", 1)
	primary.Do("CONFIG", "SET", "min-replicas-max-lag", 10)
	testserver.Await(t, "the replica is in time", func() bool {
		return strings.Contains(fmt.Sprint(primary.Do("INFO", "replication")), "min_slaves_good_slaves:1")
	})
	want(t, locks(t, urlOf(primary)), doctor.Fine, "replicas", "min-replicas-to-write is 1")
	primary.Do("CONFIG", "SET", "min-replicas-to-write", 2)
	want(t, locks(t, urlOf(primary)), doctor.Problem, "replicas", "NOREPLICAS")
	primary.Do("CONFIG", "SET", "min-replicas-to-write", 1)
	primary.Do("ACL", "SETUSER", "half", "on", ">password", "~*", "&*", "+@all", "-config")
	r := locks(t, "redis://half:password@"+primary.Addr+"/0")
	want(t, r, doctor.Unknown, "settings", "not examined")
	want(t, r, doctor.Fine, "version", "valkey")
	if f := want(t, r, doctor.Fine, "replicas", "1 of them in time"); strings.Contains(f.Is, "min-replicas-to-write") {
		t.Errorf("it knows what it could not ask for: %s", f.Is)
	}
	r = locks(t, urlOf(replica))
	want(t, r, doctor.Problem, "service", "is a replica, which takes no writes")
	want(t, r, doctor.Problem, "role", "nothing is granted")
}

// A shard that hangs is found, and the others are still examined.
func TestRedisCluster(t *testing.T) {
	t.Parallel()
	cluster := testredis.StartCluster(t, testredis.Redis, "--cluster-replica-no-failover", "yes")
	var addrs []string
	for _, n := range cluster.Nodes {
		addrs = append(addrs, n.Addr)
	}
	url := "redis+cluster://" + strings.Join(addrs, ",")
	r := locks(t, url)
	want(t, r, doctor.Fine, "cluster", "16384 of 16384 slots")
	want(t, r, doctor.Fine, "trial", "handed over")
	want(t, r, doctor.Warning, "replicas", "min-replicas-to-write is 0")
	want(t, locks(t, urlOf(cluster.Nodes[0])), doctor.Problem, "role", "the URL is that of a single server")
	cluster.Nodes[0].Pause()
	r = locks(t, url, 4*time.Second) // a node of the URL that hangs takes three
	if !r.Unanswered() {
		t.Error("the report does not say that a shard does not answer")
	}
	want(t, r, doctor.Warning, "replicas", "min-replicas-to-write is 0")
}

// A ping finds what a user may not do.
func TestRedisRights(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t, testredis.Redis)
	server.Do("ACL", "SETUSER", "mute", "on", ">password", "~*", "&*", "+@all", "-info", "-evalsha")
	r := locks(t, "redis://mute:password@"+server.Addr+"/0")
	want(t, r, doctor.Unknown, "info", server.Addr)
	want(t, r, doctor.Problem, "service", "does not let the user do what locks need")
}
