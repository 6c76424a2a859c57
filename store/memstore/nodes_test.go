package memstore

import (
	"fmt"
	"math/rand/v2"
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

// look audits the table of the tree "plan" and shows it to test.
func (d *desk) look(test func(*table)) {
	d.Helper()
	t := d.store.use(d.tree("plan"))
	defer d.store.unuse(t)
	if err := t.audit(); err != nil {
		d.Fatal(err)
	}
	test(t)
}

func x(path string) []pathlock.Claim {
	return pathlock.Normalize(pathlock.X(pathlock.MustParsePath(path)))
}

// The records of a directory are a list, then a map, then gone, in whatever order its entries come
// and go.
func TestADirectoryGrowsAndShrinks(t *testing.T) {
	for _, crowd := range []int{1, 2, fewChildren, fewChildren + 1, 10 * fewChildren} {
		d := &desk{t, New()}
		come, leave := rand.Perm(crowd), rand.Perm(crowd)
		for n, i := range come {
			d.acquire("plan", fmt.Sprint(i), x(fmt.Sprintf("/dir/n%d/below", i))...)
			d.look(func(table *table) {
				dir := table.nodes.root.children.find("dir")
				if dir.uses != 2*(n+1) {
					t.Errorf("the directory has %d uses after %d requests", dir.uses, n+1)
				}
				if hasMap := dir.children.byName != nil; hasMap != (n+1 > fewChildren) {
					t.Errorf("a map of %d entries: %v", n+1, hasMap)
				}
			})
		}
		for _, i := range leave {
			d.release("plan", fmt.Sprint(i))
			d.look(func(*table) {})
		}
		d.look(func(table *table) {
			for n := range table.nodes.root.children.all {
				t.Errorf("%s is left of %d entries", n.name, crowd)
			}
			for n := table.nodes.unused; n != nil; n = n.sibling {
				if n.parent != nil || n.name != "" || n.uses != 0 || n.children.first != nil || n.children.listed != 0 || n.children.byName != nil {
					t.Errorf("a record is kept with what it was used for: %+v", n)
				}
			}
		})
	}
}

// A claim set that was not normalised claims no less for that.
func TestClaimsWithoutAncestorsAndInAnyOrder(t *testing.T) {
	d := &desk{t, New()}
	at := pathlock.MustParsePath
	d.acquire("plan", "1", pathlock.X(at("/a/b/c")), pathlock.IX(at("/a")), pathlock.X(at("/d/e")), pathlock.X(at("/a/b/f")))
	d.look(func(*table) {})
	_, err := d.store.Acquire(t.Context(), pathlock.Acquisition{Tree: d.tree("plan"), Owner: "2", Grant: "2", Claims: x("/a/b/f"), Lease: time.Hour})
	if err == nil {
		t.Error("a second owner got the same node")
	}
	d.look(func(*table) {})
	d.release("plan", "1")
	d.look(func(table *table) {
		if uses := table.nodes.root.uses; uses != 0 {
			t.Errorf("the root has %d uses left", uses)
		}
	})
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
	spare := d.store.idle[0].spare
	if spare == nil || spare.owner != nil || spare.Owner != "" || spare.fence != 0 {
		t.Fatalf("the request is kept as %+v", spare)
	}
	for _, p := range spare.places[:cap(spare.places)] {
		if p != (place{}) {
			t.Errorf("a claim is kept: %v", p.Claim)
		}
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
		d.acquire(fmt.Sprint(i), "1", x(strings.Repeat("/n", 2*maxUnused))...)
	}
	for i := range 2 * maxIdle {
		d.release(fmt.Sprint(i), "1")
	}
	if n := len(d.store.idle); n != maxIdle {
		t.Errorf("%d tables are kept, want %d", n, maxIdle)
	}
	for _, table := range d.store.idle {
		kept := 0
		for n := table.nodes.unused; n != nil; n = n.sibling {
			kept++
		}
		if kept != maxUnused || kept != table.nodes.spare {
			t.Errorf("%d records are kept and %d counted, want %d", kept, table.nodes.spare, maxUnused)
		}
		if table.spare != nil {
			t.Errorf("a request with %d claims is kept", cap(table.spare.places))
		}
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
