package testredis

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/internal/testserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// set and requireGet go by way of a client, so that they follow the topology as programs do.
func set(t *testing.T, client redis.UniversalClient, key string) {
	t.Helper()
	if err := client.Set(t.Context(), key, "value", 0).Err(); err != nil {
		t.Fatalf("SET %s: %v", key, err)
	}
}

func requireGet(t *testing.T, client redis.UniversalClient, key string) {
	t.Helper()
	testserver.Await(t, key+" is there", func() bool {
		got, err := client.Get(context.WithoutCancel(t.Context()), key).Result()
		if cluster, ok := client.(*redis.ClusterClient); ok && err != nil {
			cluster.ReloadState(t.Context()) // of itself it asks once a minute which nodes there are
		}
		return err == nil && got == "value"
	})
}

func TestServer(t *testing.T) {
	for _, program := range []Program{Redis, Valkey} {
		t.Run(string(program), func(t *testing.T) {
			t.Parallel()
			s := Start(t, program)
			client := s.Client()
			set(t, client, "a")

			s.Pause()
			if s.Running() {
				t.Error("a paused server is said to be running")
			}
			s.Resume()
			requireGet(t, client, "a")

			s.Kill()
			if _, err := s.Try("PING"); err == nil {
				t.Error("a killed server answers")
			}
			s.Start()
			if n := s.Do("DBSIZE"); n != int64(0) {
				t.Errorf("%v keys outlived the server, want none: it keeps nothing on disk", n)
			}
			s.Pause()
			s.Stop()
			if s.Running() {
				t.Error("a stopped server is said to be running")
			}
		})
	}
}

func TestLoseWrites(t *testing.T) {
	t.Parallel()
	r := StartReplicated(t, Redis, 1)
	client := r.Primary.Client()
	set(t, client, "kept")
	AwaitReplicated(r.Primary, r.Replicas...)
	LoseWrites(r.Primary, r.Replicas...)
	set(t, client, "lost")
	r.Primary.Kill()
	r.Replicas[0].Resume()
	if n := r.Replicas[0].Do("EXISTS", "kept", "lost"); n != int64(1) {
		t.Errorf("the replica has %v of the keys kept and lost, want the first alone", n)
	}
}

func TestSentinel(t *testing.T) {
	for _, program := range []Program{Redis, Valkey} {
		t.Run(string(program), func(t *testing.T) {
			t.Parallel()
			s := StartSentinel(t, program)
			client := s.Client()
			set(t, client, "a")
			first := s.Primary()
			AwaitReplicated(first, s.Replicas()...)

			second := s.Failover()
			if second == first {
				t.Fatal("the primary is the same after a failover")
			}
			requireGet(t, client, "a")

			AwaitReplicated(second, s.Replicas()...)
			second.Kill()
			if third := s.AwaitFailover(second); !third.Running() {
				t.Error("the new primary is the one that was killed")
			}
			requireGet(t, client, "a")
		})
	}
}

func TestCluster(t *testing.T) {
	for _, program := range []Program{Redis, Valkey} {
		t.Run(string(program), func(t *testing.T) {
			t.Parallel()
			c := StartCluster(t, program)
			client := c.Client()
			const key = "{tree}:a"
			set(t, client, key)

			from, to := c.Primary(key), c.Other(key)
			move := c.BeginMove(key, to)
			if keys := move.Keys(); len(keys) != 1 || keys[0] != key {
				t.Errorf("keys in the slot: %v, want %s", keys, key)
			}
			move.MoveKeys()
			if c.Primary(key) != from {
				t.Error("the slot has its new node before the move is finished")
			}
			requireGet(t, client, key)
			move.Finish()
			if c.Primary(key) != to {
				t.Error("the slot is not with the node that it was moved to")
			}
			requireGet(t, client, key)
			AwaitReplicated(to, c.Replica(key))

			replica := c.Replica(key)
			if now := c.Failover(key); now != replica {
				t.Errorf("%s serves the key after the failover, want the replica %s", now.Addr, replica.Addr)
			}
			requireGet(t, client, key)

			testserver.Await(t, "the old primary is a replica in step", func() bool {
				return to.Info("replication", "master_link_status") == "up"
			})
			replica.Kill()
			if now := c.AwaitFailover(key, replica); now != to {
				t.Errorf("%s serves the key after the crash, want %s", now.Addr, to.Addr)
			}
			requireGet(t, client, key)
		})
	}
}
