package lockspec_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/pathlock-go/pathlock/internal/operation"
)

// grown draws a tree that some operations, one after the other, have left behind.
func grown() *rapid.Generator[table] {
	return rapid.Custom(func(t *rapid.T) table {
		tree := table{"root": {id: "root"}}
		node := func(label string) string {
			return rapid.SampledFrom(slices.Sorted(maps.Keys(tree))).Draw(t, label)
		}
		name := rapid.SampledFrom([]string{"n", "b", "x"})
		for i := range rapid.IntRange(4, 12).Draw(t, "operations") {
			var do handler
			switch rapid.IntRange(0, 7).Draw(t, "operation") {
			case 0:
				do = move(node("node"), node("dest"), "")
			case 1:
				if id := node("node"); id != "root" {
					do = remove(id)
				}
			case 2:
				do = restore(node("item"))
			default:
				do = insert(node("parent"), name.Draw(t, "name"), rapid.IntRange(0, 3).Draw(t, "file") == 0)
			}
			if do != nil {
				tree = playAs(tree, do, do, "AA", fmt.Sprintf("n%02d", i), "").tree
			}
		}
		return tree
	})
}

// What holds on the small tree holds on any: no conflict is missed, whichever rules the two go by,
// and the tree never breaks.
func TestNoConflictIsMissedOnAnyTree(t *testing.T) {
	bad := 0
	rapid.Check(t, func(t *rapid.T) {
		tree := grown().Draw(t, "tree")
		if broken := tree.broken(); broken != "" {
			t.Fatalf("the model is wrong: %s", broken)
		}
		some := rapid.SliceOfNDistinct(rapid.SampledFrom(instances(tree)), 1, 10, instance.String).Draw(t, "instances")
		for i, a := range some {
			for _, b := range some[i:] {
				p := pair{a, b, judge(tree, a.do, b.do)}
				if !p.verdict.bad() {
					continue
				}
				bad++
				for _, rules := range [][2]operation.Rule{
					{operation.NameSlot, operation.NameSlot}, {operation.NameSlot, operation.ParentExclusive},
					{operation.ParentExclusive, operation.NameSlot}, {operation.ParentExclusive, operation.ParentExclusive},
				} {
					if !p.waits(rules[0], rules[1]) && (!p.intoEachOther() || p.verdict.breaks != "") {
						t.Errorf("%s (%d), and at once %s (%d): %+v", a, rules[0], b, rules[1], p.verdict)
					}
				}
			}
		}
	})
	if bad == 0 {
		t.Error("no two of the operations drawn came to harm: nothing was tested")
	}
}
