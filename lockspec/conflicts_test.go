package lockspec_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/operation"
)

// The promise: whatever the oracle finds bad, the claims keep apart; by both rules, and where one
// of the two goes by the one rule and the other by the other.
func TestNoConflictIsMissed(t *testing.T) {
	for _, ruleA := range []operation.Rule{operation.NameSlot, operation.ParentExclusive} {
		for _, ruleB := range []operation.Rule{operation.NameSlot, operation.ParentExclusive} {
			t.Run(fmt.Sprintf("%d beside %d", ruleA, ruleB), func(t *testing.T) {
				for _, p := range pairs() {
					if p.verdict.bad() && !p.waits(ruleA, ruleB) && !p.intoEachOther() {
						t.Errorf("%s, and at once %s: %+v", p.a, p.b, p.verdict)
					}
				}
			})
		}
	}
}

// Two snapshot copies into each other's source are the one thing that is not serialisable. They are
// never inconsistent.
func TestSnapshotCopiesIntoEachOtherNeverBreakTheTree(t *testing.T) {
	tree, missed := smallTree(), 0
	for _, p := range pairs() {
		if !p.intoEachOther() || p.waits(operation.NameSlot, operation.NameSlot) {
			continue
		}
		missed++
		if p.verdict.breaks != "" {
			t.Errorf("%s, and at once %s: %s", p.a, p.b, p.verdict.breaks)
		}
		if p.verdict.lost == "" && !refused(tree, p.a) && !refused(tree, p.b) {
			t.Errorf("%s, and at once %s: serialisable after all", p.a, p.b)
		}
	}
	if missed == 0 {
		t.Error("the small tree has no two snapshot copies into each other's source")
	}
}

// Three snapshot copies in a ring each may miss what the one before creates, though each pair of
// them is as if one came after the other.
func TestSnapshotCopiesInARingAreNotSerializable(t *testing.T) {
	tree := smallTree()
	tree["h"] = row{id: "h", parent: "root", name: "h", path: "/h"}
	ring := []struct {
		node, dest string
		do         handler
	}{
		{"/a/b", "/d/e", duplicate("b", "e", "n", true)},
		{"/d/e", "/h", duplicate("e", "h", "n", true)},
		{"/h", "/a/b", duplicate("h", "b", "n", true)},
	}
	claims := func(i int) []pathlock.Claim {
		return operation.Operation{Kind: operation.Copy, Node: path(ring[i].node), Dest: path(ring[i].dest), Name: "n", Snapshot: true}.Claims(operation.NameSlot)
	}
	for i := range ring {
		next := (i + 1) % len(ring)
		if v := judge(tree, ring[i].do, ring[next].do); v.bad() || conflict(claims(i), claims(next)) {
			t.Errorf("%s and %s: %+v", ring[i].node, ring[next].node, v)
		}
	}
	run := func(t0 table, groups ...[]int) table {
		t0 = maps.Clone(t0)
		for _, group := range groups {
			var writes []func(table) answer
			for _, i := range group {
				write, err := ring[i].do(t0, fmt.Sprint("new", i))
				if err != nil {
					t.Fatal(err)
				}
				writes = append(writes, write)
			}
			for _, write := range writes {
				write(t0)
			}
		}
		return t0
	}
	atOnce := run(tree, []int{0, 1, 2})
	if broken := atOnce.broken(); broken != "" {
		t.Errorf("the tree is broken: %s", broken)
	}
	for _, order := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		if maps.Equal(atOnce, run(tree, []int{order[0]}, []int{order[1]}, []int{order[2]})) {
			t.Errorf("the order %v has the same outcome", order)
		}
	}
}

// needless is how often the name-slot rule makes a pair of operations on the small tree wait though
// nothing could have happened. A number that grows is a finer rule lost.
var needless = map[string]int{
	"the name is taken":           2568,
	"nothing to do":               1454,
	"the whole plan":              107,
	"the other one is gone":       257,
	"attributes of a moving node": 140,
	"the same change twice":       88,
	"a node without children":     467,
}

func TestEveryFalseConflictHasAName(t *testing.T) {
	got := count(smallTree(), pairs())
	if p, ok := got.example[""]; ok {
		t.Errorf("%d pairs wait for no reason that has a name, such as %s and %s", got.byCause[""], p.a, p.b)
	}
	if !maps.Equal(got.byCause, needless) {
		t.Errorf("false conflicts by cause:\n got %v\nwant %v", got.byCause, needless)
	}
	fine, coarse := got.byRule[operation.NameSlot], got.byRule[operation.ParentExclusive]
	if fine.needless >= coarse.needless {
		t.Errorf("the name-slot rule makes %d pairs wait without need, the parent-exclusive rule %d", fine.needless, coarse.needless)
	}
}

// An edit is a statement that does not rest on what was read before. A handler that reads, thinks
// and writes back loses updates beside another, and has to say Slot.
func TestReadModifyWriteNeedsSlot(t *testing.T) {
	tree := smallTree()
	if !judge(tree, amend("f"), amend("f")).bad() || !judge(tree, amend("f"), edit("f")).bad() {
		t.Fatal("the oracle sees no lost update")
	}
	if judge(tree, edit("f"), edit("f")).bad() {
		t.Fatal("the oracle sees a lost update between two statements that rest on nothing")
	}
	f := pathlock.MustParsePath("/a/f")
	editing := operation.Operation{Kind: operation.Edit, Node: f}.Claims(operation.NameSlot)
	amending := operation.Operation{Kind: operation.Slot, Node: f}.Claims(operation.NameSlot)
	if conflict(editing, editing) {
		t.Error("two edits of one node wait for each other")
	}
	if !conflict(amending, amending) || !conflict(amending, editing) {
		t.Error("a slot does not keep others from the node's attributes")
	}
}

// mutation makes a claim set too weak.
type mutation struct {
	what   string
	rule   operation.Rule
	mutate func(op operation.Operation, claims []pathlock.Claim) []pathlock.Claim
}

// change returns a mutation of the claims of some kinds of operations that pick chooses: they get
// another mode, or vanish if that is 0.
func change(mode pathlock.Mode, pick func(operation.Operation, pathlock.Claim) bool, kinds ...operation.Kind) func(operation.Operation, []pathlock.Claim) []pathlock.Claim {
	return func(op operation.Operation, claims []pathlock.Claim) []pathlock.Claim {
		affected := false
		for _, k := range kinds {
			affected = affected || op.Kind == k
		}
		if !affected {
			return claims
		}
		var weaker []pathlock.Claim
		for _, c := range claims {
			if pick(op, c) {
				c.Mode = mode
			}
			if c.Mode != 0 {
				weaker = append(weaker, c)
			}
		}
		return weaker
	}
}

func onNode(op operation.Operation, c pathlock.Claim) bool { return c.Path == op.Node }
func atDest(op operation.Operation, c pathlock.Claim) bool { return c.Path != op.Node }
func all(operation.Operation, pathlock.Claim) bool         { return true }

// The oracle is worth something if it notices what is too weak: every claim of every operation is
// needed, in its mode.
func TestTheOracleNoticesWeakenedClaims(t *testing.T) {
	const none = pathlock.Mode(0)
	for _, m := range []mutation{
		{"insert locks nothing", operation.NameSlot, change(none, all, operation.Insert)},
		{"insert has only an intention on the slot", operation.NameSlot, change(pathlock.ModeIX, all, operation.Insert)},
		{"insert reads the slot", operation.NameSlot, change(pathlock.ModeS, all, operation.Insert)},
		{"insert has only an intention on the parent", operation.ParentExclusive, change(pathlock.ModeIX, all, operation.Insert)},
		{"rename does not lock the node", operation.NameSlot, change(none, onNode, operation.Rename)},
		{"rename has only an intention on the node", operation.NameSlot, change(pathlock.ModeIX, onNode, operation.Rename)},
		{"rename shares the node", operation.NameSlot, change(pathlock.ModeS, onNode, operation.Rename)},
		{"rename does not lock the new name", operation.NameSlot, change(none, atDest, operation.Rename)},
		{"rename has only an intention on the new name", operation.NameSlot, change(pathlock.ModeIX, atDest, operation.Rename)},
		{"rename does not lock the parent", operation.ParentExclusive, change(none, atDest, operation.Rename)},
		{"rename has only an intention on the parent", operation.ParentExclusive, change(pathlock.ModeIX, atDest, operation.Rename)},
		{"move does not lock the node", operation.NameSlot, change(none, onNode, operation.Move)},
		{"move shares the node", operation.NameSlot, change(pathlock.ModeS, onNode, operation.Move)},
		{"move does not lock the new place", operation.NameSlot, change(none, atDest, operation.Move)},
		{"move has only an intention on the new place", operation.NameSlot, change(pathlock.ModeIX, atDest, operation.Move)},
		{"move does not lock the destination", operation.ParentExclusive, change(none, atDest, operation.Move)},
		{"move shares the destination", operation.ParentExclusive, change(pathlock.ModeS, atDest, operation.Move)},
		{"copy does not lock its source", operation.NameSlot, change(none, onNode, operation.Copy)},
		{"copy has only an intention on its source", operation.NameSlot, change(pathlock.ModeIS, onNode, operation.Copy)},
		{"copy does not lock the new name", operation.NameSlot, change(none, atDest, operation.Copy)},
		{"copy has only an intention on the destination", operation.ParentExclusive, change(pathlock.ModeIX, atDest, operation.Copy)},
		{"delete locks nothing", operation.NameSlot, change(none, all, operation.Delete)},
		{"delete has only an intention", operation.NameSlot, change(pathlock.ModeIX, all, operation.Delete)},
		{"delete shares the node", operation.NameSlot, change(pathlock.ModeS, all, operation.Delete)},
		{"edit locks nothing", operation.NameSlot, change(none, all, operation.Edit)},
		{"edit only reads", operation.NameSlot, change(pathlock.ModeIS, all, operation.Edit)},
		{"read locks nothing", operation.NameSlot, change(none, all, operation.Read)},
		{"read has only an intention", operation.NameSlot, change(pathlock.ModeIS, all, operation.Read)},
		{"restore locks nothing", operation.NameSlot, change(none, all, operation.Slot)},
		{"restore has only an intention on the slot", operation.NameSlot, change(pathlock.ModeIX, all, operation.Slot)},
		{"the gate is open", operation.NameSlot, change(none, all, operation.Gate)},
		{"the gate is shared", operation.NameSlot, change(pathlock.ModeIX, all, operation.Gate)},
	} {
		t.Run(m.what, func(t *testing.T) {
			for _, p := range pairs() {
				if p.intoEachOther() || !p.verdict.bad() {
					continue
				}
				a, b := m.mutate(p.a.op, p.a.claims(m.rule)), m.mutate(p.b.op, p.b.claims(m.rule))
				if !conflict(a, b) {
					return
				}
			}
			t.Error("no pair of operations comes to harm")
		})
	}
}

// The handlers of the model do the right thing one after the other; the oracle sees what goes wrong
// when they don't come one after the other.
func TestTheOracleSeesTheThreeAnomalies(t *testing.T) {
	tree := smallTree()
	for _, c := range []struct {
		what string
		a, b handler
	}{
		{"two renames of one folder", rename("a", "n"), rename("a", "m")},
		{"a rename, and an insert below", rename("a", "n"), insert("b", "m", false)},
		{"two inserts of one name", insert("a", "n", false), insert("a", "n", true)},
		{"crossing moves into a circle", move("a", "e", ""), move("d", "b", "")},
		{"nested renames", rename("a", "n"), rename("b", "m")},
		{"an insert below what is being deleted", insert("b", "n", false), remove("a")},
		{"a copy of what is being renamed", duplicate("a", "d", "n", false), rename("b", "m")},
	} {
		if !judge(tree, c.a, c.b).bad() {
			t.Errorf("%s: the oracle finds nothing", c.what)
		}
	}
	for _, c := range []struct {
		what string
		a, b handler
	}{
		{"inserts of two names", insert("a", "n", false), insert("a", "m", false)},
		{"renames of siblings", rename("b", "n"), rename("f", "m")},
		{"moves out of two folders", move("c", "root", ""), move("g", "b", "")},
		{"edits of one file", edit("f"), edit("f")},
	} {
		if v := judge(tree, c.a, c.b); v.bad() {
			t.Errorf("%s: the oracle finds %+v", c.what, v)
		}
	}
}
