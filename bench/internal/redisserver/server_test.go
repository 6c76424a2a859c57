package redisserver

import (
	"maps"
	"os/exec"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock/internal/testserver"
)

// startServer starts a server for one test, or skips the test. In CI, it fails instead.
func startServer(t *testing.T) (*Server, *redis.Client) {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		testserver.Missing(t, err.Error())
	}
	server, err := Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopServer(t, server) })
	return server, clientOf(t, server)
}

func stopServer(t *testing.T, s *Server) {
	t.Helper()
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
}

func clientOf(t *testing.T, s *Server) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: s.Addr})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestReplicaHasWhatThePrimaryHas(t *testing.T) {
	primary, client := startServer(t)
	if err := client.Set(t.Context(), "before", "1", 0).Err(); err != nil {
		t.Fatal(err)
	}
	replica, err := primary.StartReplica(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopServer(t, replica) })
	if got, err := clientOf(t, replica).Get(t.Context(), "before").Result(); err != nil || got != "1" {
		t.Errorf("the replica has %q, %v, want 1", got, err)
	}
}

func TestSlowlogLeavesTheServerAsItWas(t *testing.T) {
	_, client := startServer(t)
	parameters := func() map[string]string {
		t.Helper()
		got, err := client.ConfigGet(t.Context(), "slowlog-*").Result()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if err := client.ConfigSet(t.Context(), slowlogLengthParameter, "77").Err(); err != nil {
		t.Fatal(err)
	}
	before := parameters()
	log, err := StartSlowlog(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	if maps.Equal(parameters(), before) {
		t.Errorf("the parameters are still %v", before)
	}
	busy := redis.NewScript("local n = 0 for i = 1, 100000 do n = n + i end return 1")
	if err := busy.Load(t.Context(), client).Err(); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"ours-1", "ours-2", "theirs"} {
		if err := busy.Run(t.Context(), client, []string{key}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	times, err := log.Scripts(t.Context(), "ours-")
	if err != nil || len(times) != 2 {
		t.Errorf("the scripts took %v, %v, want two times", times, err)
	}
	for _, took := range times {
		if took < SlowlogFrom {
			t.Errorf("a script took %v, which is not logged", took)
		}
	}
	if err := log.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := parameters(); !maps.Equal(after, before) {
		t.Errorf("the parameters are %v, were %v", after, before)
	}
	if n, err := client.SlowLogLen(t.Context()).Result(); err != nil || n != 0 {
		t.Errorf("%d entries are left, %v", n, err)
	}
}
