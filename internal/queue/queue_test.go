package queue

import (
	"fmt"
	"slices"
	"testing"
)

// A record is there while it has a use, and few unused ones are kept.
func TestNodes_comeAndGo(t *testing.T) {
	const many = 2 * mostSpare
	var q Queue
	var all []*Request
	for i := range many {
		r := new(Request)
		q.Prepare(r, new(Owner), 1, false, []Claim{{"", IX}, {fmt.Sprintf("/n%d", i), X}})
		q.Grant(r)
		all = append(all, r)
	}
	root := q.byPath[""]
	for i, r := range all {
		if n := q.byPath[fmt.Sprintf("/n%d", i)]; n == nil || n.uses != 1 || n == root || root.uses != many-i {
			t.Fatalf("n%d is lost: %+v, the root: %+v", i, n, root)
		}
		q.Remove(r)
		q.Drop(r) // again, which changes nothing
	}
	if len(q.byPath) != 0 || q.gate.uses != 0 || len(q.spare) != mostSpare || slices.Contains(q.spare[1:], q.spare[0]) {
		t.Errorf("left: %d records, %d uses of the gate; %d spare records, want %d", len(q.byPath), q.gate.uses, len(q.spare), mostSpare)
	}
}
