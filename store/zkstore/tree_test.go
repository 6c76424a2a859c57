package zkstore

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/internal/testzk"
	"github.com/pathlock-go/pathlock/store/ticketstore"
	"github.com/pathlock-go/pathlock/store/zkstore/internal/zk"
)

// awaitGone waits until ZooKeeper has removed a tree's empty container.
func awaitGone(t *testing.T, s *Store, tree pathlock.Tree) {
	t.Helper()
	testserver.Await(t, "the empty container goes", func() bool {
		get := &zk.Get{Path: s.backend.names.tree(tree)}
		return s.backend.client.Do(t.Context(), get) == nil && errors.Is(get.Err, zk.ErrNoNode)
	})
}

// TestFencesAfterATree: fences grow although nothing is left on record.
func TestFencesAfterATree(t *testing.T) {
	server := testzk.Start(t)
	s, tree := newStore(t, server.Addr), newTree(t)
	fence := uint64(0)
	for range 3 {
		for range 5 {
			req := ask(tree, x("/n"))
			grant := take(t, s, req)
			if grant.Fence <= fence {
				t.Fatalf("the fence %d follows %d", grant.Fence, fence)
			}
			fence = grant.Fence
			release(t, s, req)
		}
		awaitGone(t, s, tree)
	}
}

// TestStrayedUpdate: between reading and writing, the tree's container goes, and another one comes
// that has the same version by chance. Nothing of the update stays, and fences keep growing.
func TestStrayedUpdate(t *testing.T) {
	server := testzk.Start(t)
	s, other, tree := newStore(t, server.Addr), newStore(t, server.Addr), newTree(t)
	first := ask(tree, x("/n"))
	take(t, s, first)
	release(t, s, first)
	r, err := s.backend.read(t.Context(), tree, true)
	if err != nil || r.version != 2 {
		t.Fatalf("the tree has the version %d, want 2; error %v", r.version, err)
	}
	state, err := s.backend.state(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	awaitGone(t, s, tree)
	a, b := ask(tree, x("/n")), ask(tree, x("/m"))
	take(t, other, a)
	fence := take(t, other, b).Fence

	strayed := ticketstore.Ticket{
		Place: 1, Owner: "stray", Grant: "stray", Claims: pathlock.Normalize(x("/n")), Lease: long,
		State: ticketstore.Granted, Fence: state.Floor + 1, Since: state.Now, Until: state.Now.Add(long), OwnerUntil: state.Now.Add(long),
	}
	done, err := s.backend.commit(t.Context(), tree, r, state, ticketstore.Changes{Put: []ticketstore.Ticket{strayed}, Fence: strayed.Fence})
	if done || err != nil {
		t.Errorf("the update is done: %v, error %v; want neither", done, err)
	}
	holders(t, s, tree, 2)
	c := ask(tree, x("/o"))
	if grant := take(t, s, c); grant.Fence <= fence {
		t.Errorf("the fence %d follows %d", grant.Fence, fence)
	}
	for _, req := range []pathlock.Acquisition{a, b, c} {
		release(t, s, req)
	}
}

// TestSweep: tickets that have ended go from trees that nobody visits.
func TestSweep(t *testing.T) {
	server := testzk.Start(t)
	const every = 50 * time.Millisecond
	left, detached := newTree(t), newTree(t)
	gone := newStore(t, server.Addr)
	forgotten := ask(left, x("/n"))
	forgotten.Owner, forgotten.Lease = "d-forgotten", short
	take(t, gone, forgotten)
	kept := ask(detached, x("/n"))
	kept.Owner = "d-kept"
	take(t, gone, kept)
	if err := gone.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	unused := newTree(t)
	a, b := newStore(t, server.Addr, WithSweep(every)), newStore(t, server.Addr, WithSweep(every))
	if err := a.backend.create(t.Context(), a.backend.names.tree(unused)); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Store{a, b} {
		req := ask(newTree(t), x("/n"))
		take(t, s, req)
		release(t, s, req)
	}
	awaitGone(t, a, left)
	awaitGone(t, a, unused)
	holders(t, a, detached, 1)
	if trees, err := b.Trees(t.Context()); err != nil || len(trees) != 1 || trees[0] != detached {
		t.Errorf("the trees are %v, error %v", trees, err)
	}
	// Another process takes its turn when the first has ended.
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := newStore(t, server.Addr, WithSweep(0))
	forgotten.Tree = newTree(t)
	take(t, again, forgotten)
	awaitGone(t, b, forgotten.Tree)
	release(t, b, kept)
}

// TestPersistence: a ticket is ephemeral while its session is certain to outlive its lease.
func TestPersistence(t *testing.T) {
	server := testzk.Start(t)
	s, tree := newStore(t, server.Addr, WithSessionTimeout(20*time.Second)), newTree(t)
	req := ask(tree, x("/n"))
	req.Lease = 15 * time.Second
	fence := take(t, s, req).Fence
	expect := func(when string, tickets, ephemeral int) {
		t.Helper()
		if names, got := znodes(t, s, tree); len(names) != tickets || got != ephemeral {
			t.Fatalf("%s: %d tickets, %d of them ephemeral; want %d and %d", when, len(names), got, tickets, ephemeral)
		}
	}
	renew := func(lease time.Duration) {
		t.Helper()
		if lost, err := s.Renew(t.Context(), tree, []pathlock.Lease{{Owner: req.Owner, For: lease}}); err != nil || len(lost) > 0 {
			t.Fatalf("renew: %v are lost, error %v", lost, err)
		}
	}
	expect("a lease that the session covers", 1, 1)
	renew(16 * time.Second)
	expect("a renewal", 1, 1)
	w := queue(t, s, ask(tree, x("/n")))
	renew(time.Minute)
	expect("a renewal for longer, and a waiter with a longer lease", 2, 0)
	snapshot, err := s.Snapshot(t.Context(), tree)
	if err != nil || len(snapshot.Holders) != 1 || snapshot.Holders[0].Fence != fence || len(snapshot.Waiters) != 1 {
		t.Fatalf("after a renewal for longer: %+v, error %v", snapshot, err)
	}
	release(t, s, req)
	w.granted()
	expect("a lease that is longer", 1, 0)
	release(t, s, w.req)
	detached := ask(tree, x("/n"))
	detached.Owner, detached.Lease = "d-"+detached.Owner, time.Second
	take(t, s, detached)
	expect("a detached hold", 1, 0)
	release(t, s, detached)
}

// TestLostSession: the locks of a session that has ended end with it, long before their leases.
func TestLostSession(t *testing.T) {
	server := testzk.Start(t)
	line := &line{}
	s := newStore(t, server.Addr, line.option())
	locker := pathlock.New(s, pathlock.WithLease(long))
	lock, err := locker.Acquire(t.Context(), pathlock.Request{Tree: newTree(t), Claims: []pathlock.Claim{x("/n")}})
	if err != nil {
		t.Fatal(err)
	}
	line.endSession(t, server.Addr)
	select {
	case <-lock.Context().Done():
	case <-time.After(patience):
		t.Error("the lock lives on")
	}
	_ = lock.Release(context.WithoutCancel(t.Context()))
}

// TestMemory: what a process remembers of trees is bounded, and goes with their tickets.
func TestMemory(t *testing.T) {
	var m memory
	for range 2 * rememberedTrees {
		tree, err := pathlock.NewTree("t", rand.Text())
		if err != nil {
			t.Fatal(err)
		}
		m.remember(tree, map[string]entry{"a": {}})
	}
	if n := len(m.trees); n > rememberedTrees {
		t.Errorf("%d trees are remembered", n)
	}
	for tree := range m.trees {
		m.remember(tree, nil)
	}
	if n := len(m.trees); n != 0 {
		t.Errorf("%d trees without tickets are remembered", n)
	}
}

// TestRootOfOthers: a root that is there already keeps what it holds.
func TestRootOfOthers(t *testing.T) {
	server := testzk.Start(t)
	s := newStore(t, server.Addr, WithRoot("/prod"))
	root := &zk.Create{Path: "/prod", Data: []byte("theirs"), ACL: s.backend.acl, Mode: zk.Persistent}
	if err := s.backend.client.Do(t.Context(), root); err != nil || root.Err != nil {
		t.Fatal(err, root.Err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	req := ask(newTree(t), x("/n"))
	take(t, s, req)
	release(t, s, req)
	get := &zk.Get{Path: "/prod"}
	if err := s.backend.client.Do(t.Context(), get); err != nil || string(get.Data) != "theirs" || get.Stat.Version != 0 {
		t.Errorf("the root holds %q, version %d, error %v", get.Data, get.Stat.Version, err)
	}
}
