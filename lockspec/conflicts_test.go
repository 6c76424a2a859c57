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
