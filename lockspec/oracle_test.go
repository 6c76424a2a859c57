package lockspec_test

import (
	"fmt"
	"maps"
)

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
	return playAs(t, a, b, schedule, "new1", "new2")
}

func playAs(t table, a, b handler, schedule, tagA, tagB string) outcome {
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
	start('A', a, tagA, &o.a)
	start('B', b, tagB, &o.b)
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
