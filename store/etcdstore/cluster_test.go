package etcdstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
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

// storm has several processes take the same lock over and over, until it is stopped. It requires
// that no two hold it at once.
type storm struct {
	t      *testing.T
	cancel context.CancelFunc
	over   sync.WaitGroup

	mu     sync.Mutex
	holder pathlock.Owner
	fence  uint64
	last   string
	turns  int
	failed map[string]int
	turned chan struct{} // has a value after each turn
}

func newStorm(t *testing.T, tree pathlock.Tree, stores ...*Store) *storm {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &storm{t: t, cancel: cancel, failed: map[string]int{}, turned: make(chan struct{}, 1)}
	for i, store := range stores {
		s.over.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				s.turn(ctx, store, tree, pathlock.Owner(rune('a'+i)), pathlock.GrantID(rune('0'+n%10)))
			}
		})
	}
	t.Cleanup(s.stop)
	return s
}

// turn takes the lock, and gives it back.
func (s *storm) turn(ctx context.Context, store *Store, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) {
	req := request(s.t, tree, owner, 5*time.Second, 20*time.Second)
	req.Grant = id
	g, err := store.Acquire(ctx, req)
	if err != nil {
		s.fails(ctx, err)
		return
	}
	s.mu.Lock()
	if s.holder != "" {
		s.t.Errorf("%s has the lock, and so does %s", owner, s.holder)
	}
	if g.Fence <= s.fence {
		s.t.Errorf("%s (grant %s) has fence %d after %s", owner, id, g.Fence, s.last)
	}
	s.holder, s.fence, s.last = owner, g.Fence, fmt.Sprintf("%d of %s (grant %s)", g.Fence, owner, id)
	s.mu.Unlock()
	s.mu.Lock()
	s.holder = ""
	s.turns++
	s.mu.Unlock()
	select {
	case s.turned <- struct{}{}:
	default:
	}
	for ctx.Err() == nil {
		err := store.Release(ctx, tree, owner, id)
		if err == nil || errors.Is(err, pathlock.ErrNotHeld) {
			return
		}
		s.fails(ctx, err)
	}
}

func (s *storm) fails(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	// A waiter that could not give a sign of life for a whole lease has lost its place.
	if !errors.Is(err, pathlock.ErrUnavailable) && !errors.Is(err, pathlock.ErrLost) {
		s.t.Errorf("%v, want what matches ErrUnavailable", err)
	}
	s.mu.Lock()
	s.failed[err.Error()]++
	s.mu.Unlock()
}

// goesOn returns when some more turns have been taken, and logs how long that took.
func (s *storm) goesOn(when string) {
	s.t.Helper()
	began := time.Now()
	for range 10 {
		select {
		case <-s.turned:
		case <-time.After(time.Minute):
			s.t.Fatalf("%s: nobody has had a turn for a minute", when)
		}
	}
	s.t.Logf("%s: 10 turns after %v", when, time.Since(began).Round(time.Millisecond))
}

func (s *storm) stop() {
	s.cancel()
	s.over.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for err, n := range s.failed {
		s.t.Logf("%d times: %s", n, err)
	}
}

func TestThreeMembers(t *testing.T) {
	t.Parallel()
	cluster := testetcd.StartCluster(t, 3)
	client := connect(t, cluster.Addrs()...)
	tree := newTree(t)
	var stores []*Store
	for range 3 {
		stores = append(stores, newStore(t, connect(t, cluster.Addrs()...)))
	}
	held := request(t, newTree(t), "holder", time.Minute, 0)
	first := acquire(t, stores[0], held)
	s := newStorm(t, tree, stores...)
	s.goesOn("all is well")

	m := leader(t, client, cluster)
	m.Kill()
	s.goesOn("the leader is killed")
	m.Start()
	s.goesOn("it is started again")

	m = leader(t, client, cluster)
	m.Pause()
	s.goesOn("the leader is paused")
	m.Resume()
	s.goesOn("it goes on")

	s.stop()
	// What was held all the time still is.
	if lost, err := stores[0].Renew(t.Context(), held.Tree, []pathlock.Lease{{Owner: held.Owner, For: time.Minute}}); err != nil || len(lost) > 0 {
		t.Errorf("a renewal: lost %v, %v", lost, err)
	}
	release(t, stores[0], held)
	if again := acquire(t, stores[1], held); again.Fence <= first.Fence {
		t.Errorf("fence %d after %d", again.Fence, first.Fence)
	}
}

func TestOneMemberOutOfReach(t *testing.T) {
	t.Parallel()
	cluster := testetcd.StartCluster(t, 3)
	line := newLine(t, cluster[0].Addr)
	store := newStore(t, connect(t, line.Addr(), cluster[1].Addr, cluster[2].Addr))
	s := newStorm(t, newTree(t), store, newStore(t, connect(t, cluster.Addrs()...)))
	s.goesOn("all is well")
	line.cut()
	s.goesOn("one client does not reach one member any more")
	s.stop()
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
