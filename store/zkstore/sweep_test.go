package zkstore

import (
	"errors"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/internal/test/testzk"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// shortly makes a store keep the znode of an empty tree for only a short time.
func shortly(c *config) { c.keep = 50 * time.Millisecond }

// awaitGone sweeps until a tree's znode is gone.
func awaitGone(t *testing.T, s *store, tree pathlock.Tree) {
	t.Helper()
	testserver.Await(t, "the znode of the tree goes", func() bool {
		testerr.Must(t, s.backend.Sweep(t.Context()))
		r, err := s.backend.read(t.Context(), tree, true)
		return err == nil && r.absent
	})
}

// Trees that nobody uses go: with tickets that have ended, with none, and those that were never
// used, but reserved.
func TestSweep(t *testing.T) {
	server := testzk.Start(t)
	s := newStore(t, server.Addr, shortly, WithRoot("/not/there/yet"))
	testerr.Must(t, s.backend.Sweep(t.Context()))
	kept, crashed := testlock.Ask(testlock.Tree(t), x("/n")), testlock.Ask(testlock.Tree(t), x("/n"))
	crashed.Lease = time.Millisecond
	testlock.Take(t, s, kept)
	testlock.Take(t, s, crashed)
	unused := testlock.Tree(t)
	testerr.Must(t, s.backend.begin(t.Context(), unused))
	testerr.Must(t, s.backend.Reserve(t.Context(), unused))
	awaitGone(t, s, crashed.Tree)
	awaitGone(t, s, unused)
	testlock.Holders(t, s, kept.Tree, 1)
	if trees, err := s.Trees(t.Context()); err != nil || len(trees) != 1 || trees[0] != kept.Tree {
		t.Errorf("the trees are %v, error %v", trees, err)
	}
}

// Fences grow although nothing of a tree is left on record.
func TestFence_growsAfterATree(t *testing.T) {
	server := testzk.Start(t)
	s, req := newStore(t, server.Addr, shortly), testlock.Ask(testlock.Tree(t), x("/n"))
	fence := uint64(0)
	for range 10 {
		grant := testlock.Take(t, s, req)
		if grant.Fence <= fence {
			t.Fatalf("the fence %d follows %d", grant.Fence, fence)
		}
		fence = grant.Fence
		testlock.Release(t, s, req)
		if fence%2 == 0 {
			awaitGone(t, s, req.Tree)
		}
	}
}

// Between reading and writing, the tree's znode goes, and another one takes its place that has the
// same version by chance. The update writes nothing.
func TestUpdate_strayed(t *testing.T) {
	server := testzk.Start(t)
	s, tree := newStore(t, server.Addr, shortly), testlock.Tree(t)
	cycle := func() *reading {
		req := testlock.Ask(tree, x("/n"))
		testlock.Take(t, s, req)
		testlock.Release(t, s, req)
		r, err := s.backend.read(t.Context(), tree, true)
		testerr.Must(t, err)
		return r
	}
	before := cycle()
	awaitGone(t, s, tree)
	if after := cycle(); after.version != before.version {
		t.Fatalf("the tree has the version %d, want %d", after.version, before.version)
	}
	strayed := ticketstore.Ticket{State: ticketstore.Granted}
	strayed.Place, strayed.Owner, strayed.Grant, strayed.Lease, strayed.Fence = 1, "stray", "stray", testlock.Long, 1
	done, err := s.backend.commit(t.Context(), tree, before, ticketstore.Changes{Put: []ticketstore.Ticket{strayed}, Fence: 1})
	if done || err != nil {
		t.Errorf("the update is done: %v, error %v; want neither", done, err)
	}
	if r, err := s.backend.read(t.Context(), tree, true); err != nil || len(r.record.tickets.Tickets) > 0 {
		t.Errorf("the tickets %v are left, error %v", r.record.tickets.Tickets, err)
	}
}

// A claim set that no server would take is refused, and hurts nobody else.
func TestLimits_tooLarge(t *testing.T) {
	server := testzk.Start(t)
	s, tree := newStore(t, server.Addr), testlock.Tree(t)
	req := testlock.Ask(tree, manyClaims(5000)...)
	if _, err := s.Acquire(t.Context(), req); !errors.Is(err, pathlock.ErrInvalidRequest) {
		t.Errorf("a claim set of %d random names: %v, want ErrInvalidRequest", len(req.Claims), err)
	}
	req = testlock.Ask(tree, manyClaims(300)...) // as many as Redis takes
	testlock.Take(t, s, req)
	testlock.Release(t, s, req)
}

// Names of trees lead back to them, as the conformance suite shows, and no other name leads to any.
func TestZnode_namesOfTrees(t *testing.T) {
	tree, err := pathlock.NewTree("a/b", "..")
	testerr.Must(t, err)
	if back, ok := treeOf(nameOf(tree)); !ok || back != tree {
		t.Errorf("%q is the name of %v, and not %v", nameOf(tree), back, tree)
	}
	for _, name := range []string{"", "a", "stamp-A", "a:", ":b", "a:b:c", "a:%", "a:%62", "ä:b"} {
		if tree, ok := treeOf(name); ok {
			t.Errorf("%q is the name of %v", name, tree)
		}
	}
}
