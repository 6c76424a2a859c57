package queue

import (
	"fmt"
	"strings"
	"testing"
)

// The records of a directory are a list, then a map, then gone, and few of them are kept.
func TestDirectory_growsAndShrinks(t *testing.T) {
	const many = 10 * fewChildren
	var q Queue
	var all []*Request
	take := func(name string) {
		r := new(Request)
		q.Prepare(r, new(Owner), 1, false, []Claim{{name, X}})
		q.Grant(r)
		all = append(all, r)
	}
	for i := range many {
		take(fmt.Sprintf("/dir/n%d/below", i))
	}
	dir := q.root.children.find("dir")
	for i := range many {
		if n := dir.children.find(fmt.Sprint("n", i)); n == nil || n.parent != dir || n.uses != 1 {
			t.Fatalf("n%d is lost: %+v", i, n)
		}
	}
	take(strings.Repeat("/n", 2*mostSpare))
	for _, r := range all {
		q.Remove(r)
	}
	if dir.children.byName != nil || dir.children.listed != 0 || q.root.uses != 0 || q.root.children.first != nil || q.spare != mostSpare {
		t.Errorf("left: %d uses; %d spare records, want %d", q.root.uses, q.spare, mostSpare)
	}
}
