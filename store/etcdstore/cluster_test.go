package etcdstore

import (
	"context"
	"errors"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testetcd"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

// leader returns the member of a cluster that leads it.
func leader(t *testing.T, client *clientv3.Client, cluster testetcd.Cluster) *testetcd.Server {
	t.Helper()
	var leads *testetcd.Server
	testserver.Await(t, "the cluster has a leader", func() bool {
		for _, m := range cluster {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			status, err := client.Status(ctx, "http://"+m.Addr)
			cancel()
			if err == nil && status.Leader == status.Header.MemberId {
				leads = m
				return true
			}
		}
		return false
	})
	return leads
}

// Locks outlive the death of the leader, and one that hangs, with all waiters in their places.
func TestThreeMembers(t *testing.T) {
	for name, fault := range map[string]func(*testetcd.Server) (heal func()){
		"the leader is killed": func(s *testetcd.Server) func() { s.Kill(); return s.Start },
		"the leader is paused": func(s *testetcd.Server) func() { s.Pause(); return s.Resume },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := testetcd.StartCluster(t, 3)
			client, tree := connect(t, cluster.Addrs()...), newTree(t)
			held := request(t, tree, "holder", time.Minute, 0)
			store := newStore(t, client)
			fence := acquire(t, store, held).Fence
			var stores []*Store
			var turns []<-chan outcomeOf
			waiter := func(i int) pathlock.Acquisition {
				return request(t, tree, pathlock.Owner(rune('a'+i)), time.Minute, time.Minute)
			}
			for i := range 3 {
				stores = append(stores, newStore(t, connect(t, cluster.Addrs()...)))
				turns = append(turns, queue(t, stores[i], waiter(i)))
			}
			heal := fault(leader(t, client, cluster))
			for _, s := range stores {
				testserver.Await(t, "each client is served", func() bool { return s.Ping(t.Context()) == nil })
			}
			if lost, err := store.Renew(t.Context(), tree, []pathlock.Lease{{Owner: held.Owner, For: time.Minute}}); err != nil || len(lost) > 0 {
				t.Errorf("a renewal: lost %v, %v", lost, err)
			}
			release(t, store, held)
			for i, turn := range turns {
				next := granted(t, turn).grant.Fence
				if next <= fence {
					t.Errorf("fence %d after %d", next, fence)
				}
				fence = next
				release(t, stores[i], waiter(i))
			}
			heal()
			requireNoKeys(t, client)
		})
	}
}

func TestNoMajority(t *testing.T) {
	t.Parallel()
	cluster := testetcd.StartCluster(t, 3)
	store := newStore(t, connect(t, cluster.Addrs()...), WithTimeout(time.Second))
	tree := newTree(t)
	req := request(t, tree, "holder", time.Minute, 0)
	acquire(t, store, req)
	cluster[0].Kill()
	cluster[1].Kill()
	for what, err := range map[string]error{
		"ping":    store.Ping(t.Context()),
		"release": store.Release(t.Context(), tree, req.Owner, req.Grant),
	} {
		if !errors.Is(err, pathlock.ErrUnavailable) {
			t.Errorf("%s: %v, want what matches ErrUnavailable", what, err)
		}
	}
	cluster.Start()
	testserver.Await(t, "the store serves again", func() bool { return store.Ping(t.Context()) == nil })
	if err := store.Release(t.Context(), tree, req.Owner, req.Grant); err != nil && !errors.Is(err, pathlock.ErrNotHeld) {
		t.Error(err)
	}
	acquire(t, store, request(t, tree, "next", time.Minute, 0))
}

// A restart of everything while locks are held (scenario 9): etcd keeps keys and leases on disk.
func TestWholeClusterRestarted(t *testing.T) {
	t.Parallel()
	cluster := testetcd.StartCluster(t, 3)
	client := connect(t, cluster.Addrs()...)
	store, tree := newStore(t, client), newTree(t)
	req := request(t, tree, "holder", time.Minute, 0)
	first := acquire(t, store, req)
	next := queue(t, newStore(t, connect(t, cluster.Addrs()...)), request(t, tree, "next", time.Minute, time.Minute))
	cluster.Kill()
	cluster.Start()
	testserver.Await(t, "the store serves again", func() bool { return store.Ping(t.Context()) == nil })
	select {
	case o := <-next:
		t.Fatalf("the waiter has got %+v, although the lock is held", o)
	default:
	}
	if lost, err := store.Renew(t.Context(), tree, []pathlock.Lease{{Owner: req.Owner, For: time.Minute}}); err != nil || len(lost) > 0 {
		t.Errorf("a renewal: lost %v, %v", lost, err)
	}
	release(t, store, req)
	began := time.Now()
	second := granted(t, next)
	t.Logf("the waiter was let in %v after the release", second.at.Sub(began))
	if second.grant.Fence <= first.Fence {
		t.Errorf("fence %d after %d", second.grant.Fence, first.Fence)
	}
}
