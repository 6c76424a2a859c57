package locktable

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
)

// The records of a directory are a list, then a map, then gone, in whatever order its entries come
// and go.
func TestADirectoryGrowsAndShrinks(t *testing.T) {
	for _, crowd := range []int{1, 2, fewChildren, fewChildren + 1, 10 * fewChildren} {
		d := newDesk(t)
		come, leave := rand.Perm(crowd), rand.Perm(crowd)
		for n, i := range come {
			d.take(fmt.Sprint(i), x(fmt.Sprintf("/dir/n%d/below", i))...)
			d.audited()
			dir := d.nodes.root.children.find("dir")
			if dir.uses != 2*(n+1) {
				t.Errorf("the directory has %d uses after %d requests", dir.uses, n+1)
			}
			if hasMap := dir.children.byName != nil; hasMap != (n+1 > fewChildren) {
				t.Errorf("a map of %d entries: %v", n+1, hasMap)
			}
		}
		for _, i := range leave {
			d.releases(fmt.Sprint(i))
			d.audited()
		}
		for n := range d.nodes.root.children.all {
			t.Errorf("%s is left of %d entries", n.name, crowd)
		}
		for n := d.nodes.unused; n != nil; n = n.sibling {
			if n.parent != nil || n.name != "" || n.uses != 0 || n.children.first != nil || n.children.listed != 0 || n.children.byName != nil {
				t.Errorf("a record is kept with what it was used for: %+v", n)
			}
		}
	}
}

// A claim set that was not normalised claims no less for that.
func TestClaimsWithoutAncestorsAndInAnyOrder(t *testing.T) {
	d := newDesk(t)
	at := pathlock.MustParsePath
	d.take("1", pathlock.X(at("/a/b/c")), pathlock.IX(at("/a")), pathlock.X(at("/d/e")), pathlock.X(at("/a/b/f")))
	d.audited()
	if _, err := d.Acquire(d.ask("2", x("/a/b/f")...)); err == nil {
		t.Error("a second owner got the same node")
	}
	d.audited()
	d.releases("1")
	d.audited()
	if uses := d.nodes.root.uses; uses != 0 {
		t.Errorf("the root has %d uses left", uses)
	}
}

func TestWhatIsKeptToUseAgain(t *testing.T) {
	d := newDesk(t)
	d.take("1", x("/a/b")...)
	d.releases("1")
	if d.spare == nil || d.spare.owner != nil || d.spare.Owner != "" || d.spare.Data != nil || d.spare.fence != 0 {
		t.Fatalf("the request is kept as %+v", d.spare)
	}
	for _, p := range d.spare.places[:cap(d.spare.places)] {
		if p != (place{}) {
			t.Errorf("a claim is kept: %v", p.Claim)
		}
	}

	d = newDesk(t)
	d.take("1", x(strings.Repeat("/n", 2*maxUnused))...)
	d.releases("1")
	kept := 0
	for n := d.nodes.unused; n != nil; n = n.sibling {
		kept++
	}
	if kept != maxUnused || kept != d.nodes.spare {
		t.Errorf("%d records are kept and %d counted, want %d", kept, d.nodes.spare, maxUnused)
	}
	if d.spare != nil {
		t.Errorf("a request with %d claims is kept", cap(d.spare.places))
	}
}
