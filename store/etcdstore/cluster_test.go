package etcdstore

import (
	"context"
	"errors"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testetcd"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
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

// Locks outlive the death of the leader, a leader that hangs, and a restart of all members, with
// all waiters in their places. Without a majority nothing is served.
func TestCluster_threeMembers(t *testing.T) {
	t.Parallel()
	cluster := testetcd.StartCluster(t, 3)
	client := connect(t, cluster.Addrs()...)
	for _, tt := range []struct {
		name  string
		fault func() (heal func())
	}{
		{"the leader is paused", func() func() { s := leader(t, client, cluster); s.Pause(); return s.Resume }},
		{"the leader is killed", func() func() { s := leader(t, client, cluster); s.Kill(); return s.Start }},
		{"all are killed", func() func() { cluster.Kill(); cluster.Start(); return func() {} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stores []pathlock.Store
			for range 4 {
				stores = append(stores, newStore(t, connect(t, cluster.Addrs()...)))
			}
			testlock.Outlive(t, stores, tt.fault)
			requireNoKeys(t, client)
		})
	}
	store := newStore(t, connect(t, cluster.Addrs()...))
	impatient := newStore(t, connect(t, cluster.Addrs()...), WithTimeout(time.Second))
	req := testlock.Ask(testlock.Tree(t), x("/a"))
	testlock.Take(t, store, req)
	testserver.Await(t, "both are connected", func() bool { return impatient.Ping(t.Context()) == nil })
	cluster[0].Kill()
	cluster[1].Kill()
	for what, err := range map[string]error{
		"ping": impatient.Ping(t.Context()), "release": impatient.Release(t.Context(), req.Tree, req.Owner, req.Grant),
	} {
		testerr.Is(t, what, err, pathlock.ErrUnavailable)
	}
	cluster.Start()
	testserver.Await(t, "the store serves again", func() bool { return store.Ping(t.Context()) == nil })
	if err := store.Release(t.Context(), req.Tree, req.Owner, req.Grant); err != nil && !errors.Is(err, pathlock.ErrNotHeld) {
		t.Error(err)
	}
	testlock.Take(t, store, testlock.Ask(req.Tree, x("/a")))
}

func TestCut(t *testing.T) {
	t.Parallel()
	server, client := newServer(t)
	testlock.Cut(t, server.Addr, func(addr string) pathlock.Store {
		store, err := Open("etcd://" + addr)
		testerr.Must(t, err)
		return store
	}, newStore(t, client))
}

// Compaction takes away the revisions from which the watches of waiters would begin again.
func TestCompactionWhileOthersWait(t *testing.T) {
	t.Parallel()
	server, client := newServer(t)
	holder, line := newStore(t, client), testnet.StartProxy(t, server.Addr, 0)
	waiting := newStore(t, connect(t, line.Addr(), server.Addr))
	req := testlock.Ask(testlock.Tree(t), x("/a"))
	testlock.Take(t, holder, req)
	w := testlock.Queue(t, waiting, testlock.Ask(req.Tree, x("/a")))
	// The watch is cut, and what it would have reported is compacted before it stands again.
	server.Pause()
	_ = line.Close()
	server.Resume()
	testlock.Release(t, holder, req)
	response, err := client.Put(t.Context(), "other", "")
	testerr.Must(t, err)
	testerr.Must(t, testerr.Of(client.Compact(t.Context(), response.Header.Revision, clientv3.WithCompactPhysical())))
	w.Granted()
}

// A queue of waiters in several processes is served one by one. The cost grows with the number of
// waiters, not with its square: no waiter hears of another's turn.
func TestWaiters_areNoHerd(t *testing.T) {
	t.Parallel()
	server, client := newServer(t)
	const waiters, processes = 100, 5
	var stores []pathlock.Store
	for range processes {
		stores = append(stores, newStore(t, connect(t, server.Addr)))
	}
	serve := testlock.Crowd(t, stores, waiters)
	testserver.Await(t, "all watches stand", func() bool {
		return server.Count("etcd_debugging_mvcc_watcher_total", "") >= 2*waiters
	})
	events := func() int { return server.Count("etcd_debugging_mvcc_events_total", "") }
	requests := func() int { return server.Count("grpc_server_started_total", `"Txn"`) }
	heard, sent := events(), requests()
	serve(waiters)
	for what, each := range map[string]int{"events sent to watches": (events() - heard) / waiters, "reads and writes": (requests() - sent) / waiters} {
		const most = 10 // a herd would need half as many as there are waiters
		if each > most {
			t.Errorf("%d %s for each of %d waiters, want at most %d", each, what, waiters, most)
		}
	}
	requireNoKeys(t, client)
}

// A waiter's sign of life is a read and a write: no watch wakes the waiter because of it.
func TestWaiters_signsOfLife(t *testing.T) {
	t.Parallel()
	server, client := newServer(t)
	s, holder := newStore(t, client), testlock.Ask(testlock.Tree(t), x("/a"))
	testlock.Take(t, s, holder)
	waiter := testlock.Ask(holder.Tree, x("/a"))
	waiter.Lease = time.Second
	w := testlock.Queue(t, s, waiter)
	const signs, keys = 10, 2 // the ticket and the guard
	written := func() int { return server.Count("etcd_mvcc_put_total", "") }
	requests := func() int { return server.Count("grpc_server_started_total", `"Txn"`) }
	before, sent := written(), requests()
	testserver.Await(t, "the signs of life", func() bool { return written()-before >= signs*keys })
	if n := requests() - sent; n > 2*signs+signs/2 {
		t.Errorf("%d reads and writes for %d signs of life", n, signs)
	}
	testlock.Release(t, s, holder)
	w.Granted()
}

// A process far from etcd gets its turn, though a near one keeps writing.
func TestReserve(t *testing.T) {
	t.Parallel()
	server, client := newServer(t)
	line := testnet.StartProxy(t, server.Addr, 10*time.Millisecond)
	testlock.Far(t, newStore(t, connect(t, line.Addr()), WithTimeout(3*time.Second)), newStore(t, client))
}

// A member that hangs does not keep a process from reserving an update.
func TestReserve_memberHangs(t *testing.T) {
	t.Parallel()
	server, _ := newServer(t)
	line := testnet.StartProxy(t, server.Addr, 0)
	s := newStore(t, connect(t, line.Addr(), server.Addr), WithTimeout(4*time.Second))
	for range 4 {
		testerr.Must(t, s.Ping(t.Context()))
	}
	line.Pause()
	defer line.Resume()
	for range 4 { // of which every other one goes to each address
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		testerr.Is(t, "Reserve", s.backend.Reserve(ctx, testlock.Tree(t)), nil)
		cancel()
	}
}
