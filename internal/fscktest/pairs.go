package fscktest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pathlock-go/pathlock/fsck"
)

// ailing is a row with several problems at once: each field is a value from the lists below.
type ailing struct{ tree, parent, name string }

// Each tree of the test has ten keys. Its rows 1 to 4 are sound, except as said here. The two
// ailing rows follow.
const (
	pairTop     = 1 // at the top; in every other tree the root row
	pairSibling = 2 // below the top, named "b"
	pairBelow   = 3 // below the second ailing row
	pairDeleted = 4
	pairFirst   = 5
	pairSecond  = 6
	pairMissing = 8
	pairKeys    = 10
)

// What may be wrong with a row's tree, its parent and its name.
var (
	pairTrees   = []string{"its own", "none"}
	pairParents = []string{"sound", "missing", "deleted", "of another tree", "itself", "the other", "none"}
	pairNames   = []string{"own", "taken", "bad", "empty", "NULL"}
)

// ailments returns all combinations of these.
func ailments() (all []ailing) {
	for _, tree := range pairTrees {
		for _, parent := range pairParents {
			for _, name := range pairNames {
				all = append(all, ailing{tree, parent, name})
			}
		}
	}
	return all
}

// values returns the columns of the ailing row with a key.
func (a ailing) values(tree, base, key int) (plan, parent, name any) {
	plan = map[string]any{"its own": tree, "none": nil}[a.tree]
	parent = map[string]any{
		"sound": base + pairTop, "missing": base + pairMissing, "deleted": base + pairDeleted, "of another tree": 2, "itself": base + key,
		"the other": base + pairFirst + pairSecond - key, "none": nil,
	}[a.parent]
	name = map[string]any{"own": fmt.Sprintf("n%d", key), "taken": "b", "bad": "x/y", "empty": "", "NULL": nil}[a.name]
	return plan, parent, name
}

// testPairs repairs trees that each have two ailing rows. One run repairs everything that can be
// repaired. Only rows without a tree are left, if no row above has one, and the rows below them.
func testPairs(t *testing.T, database Database) {
	for _, unique := range []bool{false, true} {
		t.Run(fmt.Sprintf("unique %t", unique), func(t *testing.T) { testPairsUnder(t, database, unique) })
	}
}

func testPairsUnder(t *testing.T, database Database, unique bool) {
	seed := randomSeed()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	w := oddWorld(t, database, columnTypes{})
	if unique {
		w.exec(t, `CREATE UNIQUE INDEX suites_sibling ON suites (plan_id, parent_id, name)`)
	}
	w.put(t, 1, 1, nil, "", "")
	w.put(t, 2, 1, 1, "elsewhere", "/elsewhere")
	all := ailments()
	said := make(map[int]string)
	lost := make(map[int]bool)
	for n := range tries(len(all)) {
		first, second := all[n%len(all)], all[random.IntN(len(all))]
		if unique && first.tree == "its own" && first.name == "taken" {
			first.name = "own" // the index refuses two
		}
		if unique && second.tree == "its own" && (second.name == first.name || second.name == "taken") {
			second.name = "own"
		}
		tree, base, above := 2+n, pairKeys*(n+1), ""
		if n%2 == 0 {
			above = "top"
		}
		said[tree] = fmt.Sprintf("%+v and %+v beside %q", first, second, above)
		w.put(t, base+pairTop, tree, nil, above, "/wrong")
		w.put(t, base+pairSibling, tree, base+pairTop, "b", "/wrong")
		w.put(t, base+pairBelow, tree, base+pairSecond, "below", "/wrong")
		w.put(t, base+pairDeleted, tree, nil, "gone", "/gone")
		w.exec(t, `UPDATE suites SET deleted_at = '2026-01-01 00:00:00' WHERE id = ?`, base+pairDeleted)
		for key, a := range map[int]ailing{pairFirst: first, pairSecond: second} {
			plan, parent, name := a.values(tree, base, key)
			w.put(t, base+key, plan, parent, name, "/wrong")
		}
		for key, a := range hopeless(first, second) {
			if a {
				lost[base+key] = true
			}
		}
	}
	planned, _ := w.repair(t, fsck.RepairOptions{})
	done, _ := w.repair(t, fsck.RepairOptions{Apply: true, BatchRows: 1 + random.IntN(20)})
	left := make(map[int]bool)
	for _, p := range w.problems(t) {
		id := w.number(p.ID)
		if left[id] = true; !lost[id] {
			t.Errorf("%v is left of %s", p, said[2+id/pairKeys-1])
		}
	}
	if !maps.Equal(left, lost) {
		t.Errorf("left %v, want %v", slices.Sorted(maps.Keys(left)), slices.Sorted(maps.Keys(lost)))
	}
	if _, again := w.repair(t, fsck.RepairOptions{Apply: true}); again.Changes > 0 {
		t.Errorf("a second run made %d changes", again.Changes)
	}
	if planned, done := values(planned), values(done); !maps.Equal(planned, done) {
		t.Errorf("planned, and done:\n%s", difference(planned, done))
	}
}

// hopeless returns which of the two ailing rows have no tree, and no row above with one.
func hopeless(first, second ailing) map[int]bool {
	alone := func(a ailing) bool { return a.tree == "none" && a.parent != "sound" && a.parent != "of another tree" }
	follows := func(a, other ailing) bool {
		return alone(a) && (a.parent != "the other" || alone(other) || other.tree == "none" && other.parent == "the other")
	}
	return map[int]bool{pairFirst: follows(first, second), pairSecond: follows(second, first)}
}
