package lockspec_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/operation"
)

// rules are those by which an operation may claim.
var rules = []operation.Rule{operation.NameSlot, operation.ParentExclusive}

// instance is one operation on the small tree: what lockspec thinks of it, and how the model does
// it.
type instance struct {
	what string
	op   operation.Operation
	do   handler
	// claims are its claims by each rule, with all intentions.
	claims map[operation.Rule][]pathlock.Claim
}

// String returns the instance for people to read.
func (i instance) String() string { return i.what }

// instances returns every operation of a cloud drive on every node of the tree and to every place,
// with names that are free, taken, the node's own, and wanted by others.
func instances(t table) []instance {
	c := collector{tree: t}
	for _, id := range slices.Sorted(maps.Keys(t)) {
		if t[id].bin != "" {
			c.restore(id)
			continue
		}
		c.inside(id)
		c.onto(id)
		if id != "root" {
			c.relocate(id)
		}
	}
	c.add("delete the plan", operation.Operation{Kind: operation.Gate}, destroy())
	c.add("purge the recycle bin", operation.Operation{}, purge())
	return c.all
}

// collector makes the instances of one node after the other.
type collector struct {
	tree table
	all  []instance
}

// add keeps an instance, unless the resolver or the spec would have refused it before any lock:
// there is no such folder, or it is a move into the node's own subtree.
func (c *collector) add(what string, op operation.Operation, do handler) {
	if _, err := do(c.tree, "probe"); err == nil || errors.Is(err, errNameTaken) {
		claims := map[operation.Rule][]pathlock.Claim{}
		for _, rule := range rules {
			claims[rule] = pathlock.Normalize(op.Claims(rule)...)
		}
		c.all = append(c.all, instance{what, op, do, claims})
	}
}

func (c *collector) path(id string) pathlock.Path {
	return pathlock.MustParsePath(c.tree[id].path)
}

// folders returns the ids of the folders.
func (c *collector) folders() []string {
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(c.tree)) {
		if _, err := c.tree.folder(id); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// inside adds new folders, uploads and copies.
func (c *collector) inside(id string) {
	dest := c.path(id)
	for _, name := range []string{"n", "m", "b", "x"} {
		c.add(fmt.Sprintf("new folder %s in %s", name, dest),
			operation.Operation{Kind: operation.Insert, Dest: dest, Name: name}, insert(id, name, false))
	}
	for _, name := range []string{"n", "f"} {
		c.add(fmt.Sprintf("upload %s to %s", name, dest),
			operation.Operation{Kind: operation.Insert, Dest: dest, Name: name}, insert(id, name, true))
	}
}

// onto adds what works on a node, with all that is below.
func (c *collector) onto(id string) {
	node := c.path(id)
	c.add(fmt.Sprintf("edit %s", node), operation.Operation{Kind: operation.Edit, Node: node}, edit(id))
	c.add(fmt.Sprintf("export %s", node), operation.Operation{Kind: operation.Read, Node: node}, export(id))
	for _, destID := range c.folders() {
		names := []string{"n"}
		if destID == "a" {
			names = []string{"n", "f", "x"}
		}
		for _, name := range names {
			what := fmt.Sprintf("copy %s to %s as %s", node, c.path(destID), name)
			op := operation.Operation{Kind: operation.Copy, Node: node, Dest: c.path(destID), Name: name}
			c.add(what, op, duplicate(id, destID, name, false))
			op.Snapshot = true
			c.add("snapshot "+what, op, duplicate(id, destID, name, true))
		}
	}
}

// relocate adds what takes a node away from where it is.
func (c *collector) relocate(id string) {
	node, own := c.path(id), c.tree[id].name
	c.add(fmt.Sprintf("delete %s", node), operation.Operation{Kind: operation.Delete, Node: node}, remove(id))
	for _, name := range []string{"n", "m", "f", "x", own} {
		c.add(fmt.Sprintf("rename %s to %s", node, name),
			operation.Operation{Kind: operation.Rename, Node: node, Name: name}, rename(id, name))
	}
	for _, destID := range c.folders() {
		for _, name := range []string{"", "n"} {
			what := fmt.Sprintf("move %s to %s", node, c.path(destID))
			if name != "" {
				what += " as " + name
			}
			c.add(what, operation.Operation{Kind: operation.Move, Node: node, Dest: c.path(destID), Name: name}, move(id, destID, name))
		}
	}
}

// restore adds the return of a recycled item.
func (c *collector) restore(item string) {
	slot, err := c.path(c.tree[item].parent).Child(c.tree[item].name)
	if err != nil {
		return
	}
	c.add(fmt.Sprintf("restore %s (%s)", slot, item), operation.Operation{Kind: operation.Slot, Node: slot}, restore(item))
}

// outcome is all that anybody can observe of two operations.
type outcome struct {
	tree table
	a, b answer
}

func (o outcome) equals(p outcome) bool {
	return o.a == p.a && o.b == p.b && maps.Equal(o.tree, p.tree)
}

// The orders in which the two steps of each of two operations can alternate. The first two are one
// after the other.
var schedules = []string{"AABB", "BBAA", "ABAB", "ABBA", "BAAB", "BABA"}

// play runs two operations on a copy of the tree, step by step as the schedule says. The rows that
// they create are called new1 and new2.
func play(t table, a, b handler, schedule string) outcome {
	o := outcome{tree: maps.Clone(t)}
	next := map[rune]func(){}
	start := func(who rune, h handler, tag string, to *answer) {
		next[who] = func() {
			write, err := h(o.tree, tag)
			if err != nil {
				*to = answer{err: err}
				next[who] = func() {}
				return
			}
			next[who] = func() { *to = write(o.tree) }
		}
	}
	start('A', a, "new1", &o.a)
	start('B', b, "new2", &o.b)
	for _, who := range schedule {
		next[who]()
	}
	return o
}

// verdict is what the oracle says about two operations that run at once.
type verdict struct {
	// breaks says how the tree can break, and lost how the outcome can be one that neither order
	// gives. Both are empty if nothing can happen.
	breaks, lost string
}

func (v verdict) bad() bool { return v != verdict{} }

// judge lets two operations alternate in every way. It knows the rules of a tree and what it means
// to happen one after the other, and nothing of locks.
func judge(t table, a, b handler) verdict {
	ab, ba := play(t, a, b, schedules[0]), play(t, a, b, schedules[1])
	var v verdict
	for _, serial := range []outcome{ab, ba} {
		if broken := serial.tree.broken(); broken != "" {
			panic("the model is wrong: one after the other, " + broken)
		}
	}
	for _, schedule := range schedules[2:] {
		o := play(t, a, b, schedule)
		if broken := o.tree.broken(); broken != "" {
			v.breaks = fmt.Sprintf("%s: %s", schedule, broken)
		} else if !o.equals(ab) && !o.equals(ba) {
			v.lost = fmt.Sprintf("%s: %v", schedule, o)
		}
	}
	return v
}

// pair is two operations on the small tree, and what the oracle says about running them at once.
type pair struct {
	a, b    instance
	verdict verdict
}

// pairs returns every pair of operations, an operation and itself included, judged once for all
// tests. The oracle lets either of the two begin, so (a, b) covers (b, a) too.
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
	return conflict(p.a.claims[ruleA], p.b.claims[ruleB])
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

// tally is what the oracle and the claims say about all pairs together.
type tally struct {
	pairs int
	// bad is how many of the pairs must not run at once. Snapshot copies into each other's source
	// may.
	bad int
	// needless is how many of the others wait by each rule.
	needless map[operation.Rule]int
}

func count(judged []pair) tally {
	sum := tally{pairs: len(judged), needless: make(map[operation.Rule]int)}
	for _, p := range judged {
		if p.intoEachOther() && p.verdict.bad() && !p.waits(operation.NameSlot, operation.NameSlot) {
			continue
		}
		if p.verdict.bad() {
			sum.bad++
			continue
		}
		for _, rule := range rules {
			if p.waits(rule, rule) {
				sum.needless[rule]++
			}
		}
	}
	return sum
}

// The promise: whatever the oracle finds bad, the claims keep apart; by both rules, and if the two
// go by different rules. Two snapshot copies into each other's source are the exception. They never
// break the tree.
func TestConflict_noneIsMissed(t *testing.T) {
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
