package zkstore

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/internal/testzk"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// often is how often tests sweep.
const often = 50 * time.Millisecond

// awaitGone sweeps until a tree's znode is gone.
func awaitGone(t *testing.T, s *Store, tree pathlock.Tree) {
	t.Helper()
	testserver.Await(t, "the znode of the tree goes", func() bool {
		if err := s.backend.sweepOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		r, err := s.backend.read(t.Context(), tree, true)
		return err == nil && r.absent
	})
}

// TestFencesAfterATree: fences grow although nothing is left on record.
func TestFencesAfterATree(t *testing.T) {
	server := testzk.Start(t)
	s, tree := newStore(t, server.Addr, WithSweep(often)), newTree(t)
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

// TestStrayedUpdate: between reading and writing, the tree's znode goes, and another one comes that
// has the same version by chance. The update writes nothing, and fences keep growing.
func TestStrayedUpdate(t *testing.T) {
	server := testzk.Start(t)
	s, other, tree := newStore(t, server.Addr, WithSweep(often)), newStore(t, server.Addr), newTree(t)
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
	done, err := s.backend.commit(t.Context(), tree, r, ticketstore.Changes{Put: []ticketstore.Ticket{strayed}, Fence: strayed.Fence})
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
	a, b := newStore(t, server.Addr, WithSweep(often)), newStore(t, server.Addr, WithSweep(often))
	if err := errors.Join(a.backend.createRoot(t.Context(), DefaultRoot), a.backend.begin(t.Context(), unused)); err != nil {
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

// TestRootOfOthers: a root that is there already keeps what it holds.
func TestRootOfOthers(t *testing.T) {
	server := testzk.Start(t)
	s := newStore(t, server.Addr, WithRoot("/prod"))
	if _, err := once(t.Context(), s.backend.client, func(conn *zk.Conn) (string, error) {
		return conn.Create("/prod", []byte("theirs"), zk.FlagPersistent, s.backend.acl)
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	req := ask(newTree(t), x("/n"))
	take(t, s, req)
	release(t, s, req)
	got, err := once(t.Context(), s.backend.client, func(conn *zk.Conn) (string, error) {
		data, stat, err := conn.Get("/prod")
		return fmt.Sprint(string(data), stat.Version), err
	})
	if err != nil || got != "theirs0" {
		t.Errorf("the root holds %q, error %v", got, err)
	}
}
