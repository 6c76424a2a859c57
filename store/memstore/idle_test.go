package memstore

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
)

// desk is a store whose requests come one at a time.
type desk struct {
	*testing.T
	store *Store
}

func (d *desk) tree(id string) pathlock.Tree {
	tree, err := pathlock.NewTree("test", id)
	if err != nil {
		d.Fatal(err)
	}
	return tree
}

// acquire takes claims for an owner, whose name is the grant's id too.
func (d *desk) acquire(tree, owner string, claims ...pathlock.Claim) uint64 {
	d.Helper()
	grant, err := d.store.Acquire(d.Context(), pathlock.Acquisition{
		Tree: d.tree(tree), Owner: pathlock.Owner(owner), Grant: pathlock.GrantID(owner), Claims: claims, Lease: time.Hour,
	})
	if err != nil {
		d.Fatal(err)
	}
	return grant.Fence
}

func (d *desk) release(tree, owner string) {
	d.Helper()
	if err := d.store.Release(d.Context(), d.tree(tree), pathlock.Owner(owner), pathlock.GrantID(owner)); err != nil {
		d.Fatal(err)
	}
}

func x(path string) []pathlock.Claim {
	return pathlock.Normalize(pathlock.X(pathlock.MustParsePath(path)))
}

func TestAnUncontendedRequestAllocatesNothing(t *testing.T) {
	d := &desk{t, New()}
	for _, depth := range []int{1, 50} {
		claims := x(strings.Repeat("/n", depth))
		tree := d.tree("plan")
		allocations := testing.AllocsPerRun(100, func() {
			_, err := d.store.Acquire(t.Context(), pathlock.Acquisition{Tree: tree, Owner: "1", Grant: "1", Claims: claims, Lease: time.Hour})
			if err == nil {
				err = d.store.Release(t.Context(), tree, "1", "1")
			}
			if err != nil {
				t.Fatal(err)
			}
		})
		if allocations > 0 {
			t.Errorf("%v allocations at depth %d, want none", allocations, depth)
		}
	}
}

func TestATableThatIsUsedAgainRemembersNothing(t *testing.T) {
	d := &desk{t, New()}
	before := d.acquire("first", "1", x("/a/b")...)
	d.release("first", "1")
	if n := len(d.store.idle); n != 1 {
		t.Fatalf("%d idle tables, want 1", n)
	}
	snapshot, err := d.store.Snapshot(t.Context(), d.tree("first"))
	if err != nil || snapshot.Fence != 0 || len(snapshot.Holders) != 0 {
		t.Errorf("%+v, %v; want an empty table", snapshot, err)
	}
	for i := range maxIdle - 1 {
		d.acquire(fmt.Sprint(i), "1", x("/a/b")...)
		d.release(fmt.Sprint(i), "1")
	}
	first := d.store.idle[0]
	snapshot, err = d.store.Snapshot(t.Context(), d.tree("second"))
	if err != nil || snapshot.Tree != d.tree("second") || snapshot.Fence != 0 || len(snapshot.Holders) != 0 {
		t.Errorf("%+v, %v; want an empty table of the second tree", snapshot, err)
	}
	if after := d.acquire("second", "1", x("/a/b")...); after <= before {
		t.Errorf("fence %d after %d", after, before)
	}
	if d.store.tables[d.tree("second")] != first {
		t.Error("the second tree does not have the table that was idle for longest")
	}
	d.acquire("first", "1", x("/a/b")...) // another tree, another table
	d.release("first", "1")
	d.release("second", "1")
}

func TestWhatIsKeptToUseAgainIsBounded(t *testing.T) {
	d := &desk{t, New()}
	for i := range 2 * maxIdle {
		d.acquire(fmt.Sprint(i), "1", x("/a")...)
	}
	for i := range 2 * maxIdle {
		d.release(fmt.Sprint(i), "1")
	}
	if n := len(d.store.idle); n != maxIdle {
		t.Errorf("%d tables are kept, want %d", n, maxIdle)
	}

	d = &desk{t, New()}
	const crowd = 2000
	for i := range crowd {
		d.acquire("plan", fmt.Sprint(i), x(fmt.Sprint("/n", i))...)
	}
	for i := range crowd {
		d.release("plan", fmt.Sprint(i))
	}
	if n := len(d.store.idle); n != 0 {
		t.Errorf("the table of a crowd is kept: %d", n)
	}
}
