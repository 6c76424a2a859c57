package doctor_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/doctor"
	"github.com/pathlock-go/pathlock/internal/test/testredis"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

func urlOf(s *testredis.Server) string { return "redis://" + s.Addr + "/0" }

// A server with one setting that harms, or helps, is found to have it.
func TestRedisSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args            string
		level           doctor.Level
		check, contains string
	}{
		{"--appendonly yes", doctor.Fine, "persistence", "appendfsync is everysec"},
		{"--appendonly yes --appendfsync no", doctor.Warning, "persistence", "loses the locks"},
		{"--appendonly no", doctor.Warning, "persistence", "two owners may hold the same node"},
		{"--maxmemory 100mb --maxmemory-policy allkeys-lru", doctor.Problem, "eviction", "allkeys-lru"},
		{"--maxmemory-policy allkeys-lru", doctor.Warning, "eviction", "as soon as somebody sets a limit"},
		{"--maxmemory 100mb", doctor.Fine, "eviction", "noeviction"},
		{"--maxmemory 1kb", doctor.Problem, "trial", "out of memory"},
		{"--databases 2", doctor.Fine, "trial", "handed over"},
		{"--databases 2", doctor.Fine, "version", "7."},
	} {
		t.Run(c.args+" "+c.check, func(t *testing.T) {
			t.Parallel()
			server := testredis.Start(t, testredis.Redis, strings.Fields(c.args)...)
			want(t, locks(t, urlOf(server)), c.level, c.check, c.contains)
		})
	}
}

// A primary that may be cut off from its replicas is found, and one that stops then is not.
func TestRedisReplicas(t *testing.T) {
	t.Parallel()
	servers := testredis.StartReplicated(t, testredis.Redis, 1)
	primary, replica := servers.Primary, servers.Replicas[0]
	want(t, locks(t, urlOf(primary)), doctor.Warning, "replicas", "min-replicas-to-write is 0")
	primary.Do("CONFIG", "SET", "min-replicas-to-write", 1)
	primary.Do("CONFIG", "SET", "min-replicas-max-lag", 10)
	testserver.Await(t, "the replica is in time", func() bool {
		return strings.Contains(fmt.Sprint(primary.Do("INFO", "replication")), "min_slaves_good_slaves:1")
	})
	want(t, locks(t, urlOf(primary)), doctor.Fine, "replicas", "min-replicas-to-write is 1")
	r := locks(t, urlOf(replica))
	want(t, r, doctor.Problem, "service", "is a replica, which takes no writes")
	want(t, r, doctor.Problem, "role", "nothing is granted")
}

// A shard that hangs is found, and the others are examined all the same.
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

// What a user may not do, the trial finds.
func TestRedisRights(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t, testredis.Redis)
	server.Do("ACL", "SETUSER", "mute", "on", ">password", "~*", "&*", "+@all", "-info", "-evalsha")
	r := locks(t, "redis://mute:password@"+server.Addr+"/0")
	want(t, r, doctor.Unknown, "info", server.Addr)
	want(t, r, doctor.Problem, "trial", "does not let the user do what locks need")
}
