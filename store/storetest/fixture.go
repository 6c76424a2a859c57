package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
)

const (
	// long is a lease, or a wait, that outlasts every test.
	long = 30 * time.Second
	// patience is how long a test waits for what must happen.
	patience = 20 * time.Second
)

// fixture is what one test works with: a store, and a tree that nobody else uses.
type fixture struct {
	*testing.T
	ctx   context.Context
	store pathlock.Store
	tree  pathlock.Tree
	// short is a lease that is meant to end during the test.
	short time.Duration
	// made are the trees of the test, which are empty in the end.
	made []pathlock.Tree
	// mortal says that the store is a client that dies, and releases nothing in the end.
	mortal bool
}

func (s *suite) newFixture(t *testing.T, store pathlock.Store) *fixture {
	f := &fixture{T: t, ctx: context.WithoutCancel(t.Context()), store: store, short: s.short}
	f.tree = f.newTree("plan " + rand.Text())
	return f
}

// newTree returns a tree of the suite's namespace; see [fixture.tryTree].
func (f *fixture) newTree(id string) pathlock.Tree { f.Helper(); return f.tryTree("storetest", id) }

// tryTree returns the tree of any namespace and id. It must be empty at the end of the test, when
// everything that its actors hold has been released.
func (f *fixture) tryTree(namespace, id string) pathlock.Tree {
	f.Helper()
	tree, err := pathlock.NewTree(namespace, id)
	if err != nil {
		f.Fatalf("NewTree(%q, %q): %v", namespace, id, err)
	}
	if f.made == nil {
		f.Cleanup(func() { f.requireEmpty(f.made...) })
	}
	f.made = append(f.made, tree)
	return tree
}

// requireEmpty fails the test unless nobody holds or waits in some trees.
func (f *fixture) requireEmpty(trees ...pathlock.Tree) {
	f.Helper()
	for _, tree := range trees {
		if s := f.snapshot(tree); len(s.Holders) > 0 || len(s.Waiters) > 0 {
			f.Errorf("left behind in %s: holders %v, waiters %v", tree, s.Holders, s.Waiters)
		}
	}
	for _, tree := range f.trees() {
		if slices.Contains(trees, tree) {
			f.Errorf("Trees() lists %s, which is empty", tree)
		}
	}
}

func (f *fixture) snapshot(tree pathlock.Tree) pathlock.Snapshot {
	f.Helper()
	s, err := f.store.Snapshot(f.ctx, tree)
	if err != nil {
		f.Fatalf("Snapshot(%s): %v", tree, err)
	}
	return s
}

func (f *fixture) trees() []pathlock.Tree {
	f.Helper()
	trees, err := f.store.Trees(f.ctx)
	if err != nil {
		f.Fatalf("Trees(): %v", err)
	}
	return trees
}

// requireIs fails the test unless err matches target.
func (f *fixture) requireIs(err, target error) {
	f.Helper()
	if !errors.Is(err, target) {
		f.Fatalf("error is %v, want one that matches %q", err, target)
	}
}

// pass returns when d has passed by the store's own clock. It waits for the end of a lease of that
// length in another tree.
func (f *fixture) pass(d time.Duration) {
	f.Helper()
	tree := f.newTree("clock " + rand.Text())
	sand := f.actorIn(tree, "sand")
	req := sand.ask(x("/glass"))
	req.Lease = d
	sand.take(req)
	f.actorIn(tree, "watcher").queuesFor(x("/glass")).isGranted().release()
}

// Claims of paths that are written in the tests.
func is(path string) pathlock.Claim { return pathlock.IS(pathlock.MustParsePath(path)) }
func ix(path string) pathlock.Claim { return pathlock.IX(pathlock.MustParsePath(path)) }
func s(path string) pathlock.Claim  { return pathlock.S(pathlock.MustParsePath(path)) }
func x(path string) pathlock.Claim  { return pathlock.X(pathlock.MustParsePath(path)) }
