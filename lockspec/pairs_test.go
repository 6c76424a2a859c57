package lockspec_test

import (
	"errors"
	"maps"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/operation"
)

// pair is two operations on the small tree, and what the oracle says about running them at once.
type pair struct {
	a, b    instance
	verdict verdict
}

// pairs returns every pair of operations, an operation and itself included, judged once for all
// tests. The oracle lets either of the two begin, so that (a, b) stands for (b, a) too.
var pairs = sync.OnceValue(func() []pair {
	tree := smallTree()
	all := instances(tree)
	var judged []pair
	for i, a := range all {
		for _, b := range all[i:] {
			judged = append(judged, pair{a, b, judge(tree, a.do, b.do)})
		}
	}
	return judged
})

// waits says whether one of the two has to wait for the other.
func (p pair) waits(ruleA, ruleB operation.Rule) bool {
	return conflict(p.a.op.Claims(ruleA), p.b.op.Claims(ruleB))
}

// intoEachOther says whether these are two snapshot copies, each of which puts its copy into the
// other's source: the one anomaly that is asked for with SnapshotSource.
func (p pair) intoEachOther() bool {
	return p.a.op.Snapshot && p.b.op.Snapshot &&
		p.a.op.Node.Contains(slotOf(p.b.op)) && p.b.op.Node.Contains(slotOf(p.a.op))
}

// slotOf returns the path that a copy will have.
func slotOf(op operation.Operation) pathlock.Path {
	slot, err := op.Dest.Child(op.Name)
	if err != nil {
		return op.Dest
	}
	return slot
}

// cause is a reason why one operation waits for another without need.
type cause struct {
	name string
	is   func(tree table, p pair) bool
}

// causes are all such reasons by the name-slot rule. A pair has the first that fits.
var causes = []cause{{
	name: "the name is taken",
	is:   func(t table, p pair) bool { return refused(t, p.a) || refused(t, p.b) },
}, {
	name: "nothing to do",
	is:   func(t table, p pair) bool { return idle(t, p.a) || idle(t, p.b) },
}, {
	name: "the whole plan",
	is:   func(_ table, p pair) bool { return p.a.op.Kind == operation.Gate || p.b.op.Kind == operation.Gate },
}, {
	name: "the other one is gone",
	is: func(t table, p pair) bool {
		ab, ba := play(t, p.a.do, p.b.do, schedules[0]), play(t, p.a.do, p.b.do, schedules[1])
		return errors.Is(ab.b.err, errNotFound) || errors.Is(ba.a.err, errNotFound)
	},
}, {
	name: "attributes of a moving node",
	is: func(_ table, p pair) bool {
		return p.a.op.Kind == operation.Edit && relocates(p.b) || relocates(p.a) && p.b.op.Kind == operation.Edit
	},
}, {
	name: "the same change twice",
	is: func(t table, p pair) bool {
		return relocates(p.a) && relocates(p.b) && p.a.op.Node == p.b.op.Node &&
			maps.Equal(play(t, p.a.do, p.b.do, "AA").tree, play(t, p.a.do, p.b.do, "BB").tree)
	},
}, {
	name: "a node without children",
	is: func(t table, p pair) bool {
		return takesAway(p.a) && takesAway(p.b) && (childless(t, p.a) || childless(t, p.b))
	},
}}

// refused says whether the operation comes to nothing because a sibling has the name.
func refused(t table, i instance) bool {
	_, err := i.do(t, "probe")
	return errors.Is(err, errNameTaken)
}

// idle says whether the operation, which is no mere reader, changes nothing.
func idle(t table, i instance) bool {
	return i.op.Kind != operation.Read && maps.Equal(play(t, i.do, i.do, "AA").tree, t)
}

// relocates says whether the operation renames or moves a node.
func relocates(i instance) bool {
	return i.op.Kind == operation.Rename || i.op.Kind == operation.Move
}

// takesAway says whether the node is not where it was when the operation is done.
func takesAway(i instance) bool { return relocates(i) || i.op.Kind == operation.Delete }

// childless says whether the operation's node has nothing below it.
func childless(t table, i instance) bool { return len(t.below(i.op.Node.Column())) == 0 }

// tally is what the oracle and the claims say about all pairs together.
type tally struct {
	pairs int
	// bad is how many of the pairs must not run at once. Snapshot copies into each other's source
	// may.
	bad int
	// needless is how many of the others wait by each rule.
	needless map[operation.Rule]int
	// byCause is how often each cause makes a pair wait without need, and example one such pair. A
	// cause of "" is one without a name.
	byCause map[string]int
	example map[string]pair
}

func count(t table, judged []pair) tally {
	sum := tally{
		needless: make(map[operation.Rule]int),
		byCause:  make(map[string]int),
		example:  make(map[string]pair),
	}
	for _, p := range judged {
		sum.pairs++
		if p.intoEachOther() && p.verdict.bad() && !p.waits(operation.NameSlot, operation.NameSlot) {
			continue
		}
		if p.verdict.bad() {
			sum.bad++
		}
		for _, rule := range []operation.Rule{operation.NameSlot, operation.ParentExclusive} {
			if p.waits(rule, rule) && !p.verdict.bad() {
				sum.needless[rule]++
			}
		}
		if p.verdict.bad() || !p.waits(operation.NameSlot, operation.NameSlot) {
			continue
		}
		name := ""
		for _, c := range causes {
			if c.is(t, p) {
				name = c.name
				break
			}
		}
		if _, ok := sum.example[name]; !ok {
			sum.example[name] = p
		}
		sum.byCause[name]++
	}
	return sum
}

// The promise: whatever the oracle finds bad, the claims keep apart; by both rules, and where one
// of the two goes by the one rule and the other by the other. Two snapshot copies into each other's
// source are the exception. They never break the tree.
func TestConflict_noneIsMissed(t *testing.T) {
	rules := []operation.Rule{operation.NameSlot, operation.ParentExclusive}
	for _, ruleA := range rules {
		for _, ruleB := range rules {
			for _, p := range pairs() {
				if p.verdict.bad() && !p.waits(ruleA, ruleB) && (!p.intoEachOther() || p.verdict.breaks != "") {
					t.Errorf("%s by rule %d, and at once %s by rule %d: %+v", p.a, ruleA, p.b, ruleB, p.verdict)
				}
			}
		}
	}
}

func TestConflict_falseOnesHaveNames(t *testing.T) {
	got := count(smallTree(), pairs())
	if p, ok := got.example[""]; ok {
		t.Errorf("%d pairs wait for no reason that has a name, such as %s and %s", got.byCause[""], p.a, p.b)
	}
	if fine, coarse := got.needless[operation.NameSlot], got.needless[operation.ParentExclusive]; fine >= coarse {
		t.Errorf("the name-slot rule makes %d pairs wait without need, the parent-exclusive rule %d", fine, coarse)
	}
}
