package queue

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// machine does random things to a queue, and compares it after each with the rule in its plainest
// form.
type machine struct {
	*rapid.T
	queue  Queue
	owners []*Owner
	all    []*Request // in the queue
	order  uint64
	ended  map[*Request]string
	// passes is who may pass whom in the present state.
	passes map[[2]*Request]bool
}

func newMachine(t *rapid.T) *machine {
	m := &machine{T: t, ended: make(map[*Request]string), passes: make(map[[2]*Request]bool)}
	m.queue.Granted = func(r *Request) { m.ended[r] = "granted" }
	m.queue.Refused = func(r *Request, c Conflict) {
		m.ended[r] = "refused"
		m.all = slices.DeleteFunc(m.all, func(other *Request) bool { return other == r })
		if !m.inTheWay(r, c) || !c.By.Granted() {
			t.Fatalf("refused because of %+v", c)
		}
	}
	for range 6 {
		m.owners = append(m.owners, new(Owner))
	}
	return m
}

// ask makes a random request, which has not been decided about.
func (m *machine) ask() *Request {
	m.order++
	r := new(Request)
	nodes := rapid.SampledFrom([]string{"", "/a", "/a/b", "/a/b/c", "/a/d", "/a-b", "/e"})
	set := make(map[string]Mode)
	for range rapid.IntRange(1, 2).Draw(m.T, "claims") {
		name, mode := nodes.Draw(m.T, "node"), rapid.SampledFrom([]Mode{IS, IX, S, SIX, X}).Draw(m.T, "mode")
		above := IS
		if incompatible[mode]&(1<<S) != 0 { // it changes something
			above = IX
		}
		for at := name; at != ""; at = at[:strings.LastIndexByte(at, '/')] {
			parent := at[:strings.LastIndexByte(at, '/')]
			set[parent] = max(set[parent], above)
		}
		set[name] = max(set[name], mode) // not the supremum: any set will do
	}
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
	})
	claims := make([]Claim, 0, len(names))
	for _, name := range names {
		claims = append(claims, Claim{name, set[name]})
	}
	gate := rapid.IntRange(0, 20).Draw(m.T, "gate") == 0
	m.queue.Ask(r, rapid.SampledFrom(m.owners).Draw(m.T, "owner"), m.order, gate, claims)
	return r
}

// acquire decides about a new request.
func (m *machine) acquire(*rapid.T) {
	r := m.ask()
	c := m.queue.Obstacle(r)
	if want := m.blockers(r); (c.By == nil) != (len(want) == 0) || c.By != nil && !slices.Contains(want, c.By) {
		m.Fatalf("in the way is %+v, want one of %d", c, len(want))
	}
	if c.By == nil {
		m.queue.Grant(r)
		m.all = append(m.all, r)
		m.queue.Settle(m.queue.Advance(r.Owner))
		return
	}
	d := m.queue.Deadlock(r)
	if m.deadlocks(r) != (d.By != nil) {
		m.Fatalf("a deadlock: %+v, want %v", d, m.deadlocks(r))
	}
	if d.By != nil {
		m.queue.Drop(r)
		return
	}
	m.queue.Wait(r, c.By)
	m.all = append(m.all, r)
}

// remove takes a request out: a release, or a waiter that gives up.
func (m *machine) remove(t *rapid.T) {
	if len(m.all) == 0 {
		t.Skip("nobody is there")
	}
	i := rapid.IntRange(0, len(m.all)-1).Draw(t, "request")
	r := m.all[i]
	m.all = slices.Delete(m.all, i, i+1)
	unwatched := m.queue.Remove(r)
	if r.Granted() || r.Waits() || len(r.Watchers()) > 0 || r.Watching() != nil {
		t.Fatalf("%d is removed, and still there", r.Order)
	}
	m.queue.Settle(unwatched)
}

// move gives an owner's grants to a new owner.
func (m *machine) move(t *rapid.T) {
	i := rapid.IntRange(0, len(m.owners)-1).Draw(t, "owner")
	to := new(Owner)
	m.queue.Move(m.owners[i], to)
	if len(m.owners[i].Waits) == 0 {
		m.owners[i] = to
	} else {
		m.owners = append(m.owners, to)
	}
	m.queue.Settle(nil)
}

// check compares the queue with the rule.
func (m *machine) check(*rapid.T) {
	clear(m.passes)
	waiters := 0
	for _, r := range m.all {
		if r.Granted() {
			for other := range r.Holders {
				m.Fatalf("%d and %d hold what conflicts", r.Order, other.By.Order)
			}
			continue
		}
		waiters++
		want := m.blockers(r)
		var got []*Request
		for _, c := range m.queue.InTheWay(r) {
			if !m.inTheWay(r, c) {
				m.Fatalf("%+v is no conflict", c)
			}
			got = append(got, c.By)
		}
		slices.SortFunc(got, byOrder)
		slices.SortFunc(want, byOrder)
		if !slices.Equal(got, want) {
			m.Fatalf("%d waits for %d others, want %d", r.Order, len(got), len(want))
		}
		if !slices.Contains(want, r.Watching()) || !slices.Contains(r.Watching().Watchers(), r) {
			m.Fatalf("%d watches somebody who is not in its way", r.Order)
		}
		if m.ended[r] != "" || m.deadlocks(r) {
			m.Fatalf("%d waits: told %q, a deadlock: %v", r.Order, m.ended[r], m.deadlocks(r))
		}
	}
	if m.queue.Waiters() != waiters {
		m.Fatalf("%d waiters, want %d", m.queue.Waiters(), waiters)
	}
}

// inTheWay says whether a conflict is one, and names the right claims.
func (m *machine) inTheWay(r *Request, c Conflict) bool {
	asked, by := r.claims[c.Claim+1], c.By.claims[c.ByClaim+1]
	return asked.node == by.node && r.Owner != c.By.Owner && !Compatible(asked.mode, by.mode) && c.Mode() == by.mode
}

// conflicts compares two requests claim by claim.
func conflicts(a, b *Request) bool {
	for _, x := range a.claims {
		for _, y := range b.claims {
			if a.Owner != b.Owner && x.node == y.node && !Compatible(x.mode, y.mode) {
				return true
			}
		}
	}
	return false
}

// blockers returns whom r waits for, in the words of the rule.
func (m *machine) blockers(r *Request) (all []*Request) {
	for _, other := range m.all {
		if conflicts(r, other) && (other.Granted() || other.Order < r.Order && !m.mayPassByRule(r, other)) {
			all = append(all, other)
		}
	}
	return all
}

func (m *machine) mayPassByRule(r, v *Request) bool {
	pair := [2]*Request{r, v}
	passes, known := m.passes[pair]
	if !known {
		passes = r.Owner.Holds() && m.waitsFor(v, r.Owner, r.Order)
		m.passes[pair] = passes
	}
	return passes
}

// waitsFor says whether w waits for an owner, directly or through others. Requests later than limit
// whose owners hold something are behind nobody.
func (m *machine) waitsFor(w *Request, o *Owner, limit uint64) bool {
	seen := make(map[*Request]bool)
	var search func(w *Request) bool
	search = func(w *Request) bool {
		if w.Owner == o || seen[w] {
			return false
		}
		seen[w] = true
		for _, h := range m.all {
			if h.Granted() && conflicts(w, h) && (h.Owner == o || slices.ContainsFunc(h.Owner.Waits, search)) {
				return true
			}
		}
		late := w.Order > limit && w.Owner.Holds()
		return !late && slices.ContainsFunc(m.all, func(v *Request) bool {
			return v.Waits() && v.Order < w.Order && conflicts(w, v) && !m.mayPassByRule(w, v) && search(v)
		})
	}
	return search(w)
}

func (m *machine) deadlocks(r *Request) bool {
	return r.Owner.Holds() && slices.ContainsFunc(m.all, func(h *Request) bool {
		return h.Granted() && conflicts(r, h) && slices.ContainsFunc(h.Owner.Waits, func(u *Request) bool {
			return m.waitsFor(u, r.Owner, math.MaxUint64)
		})
	})
}

// Random requests, releases and transfers of owners that may wait for several things at once: who
// is granted, who waits for whom and who is refused is what the rule says, and nothing is left.
func TestQueue_keepsTheRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		t.Repeat(map[string]func(*rapid.T){"acquire": m.acquire, "again": m.acquire, "remove": m.remove, "move": m.move, "": m.check})
		for len(m.all) > 0 {
			r := m.all[0]
			m.all = m.all[1:]
			m.queue.Settle(m.queue.Remove(r))
		}
		if n := m.queue.nodes; n.root.uses+n.gate.uses+n.root.children.listed > 0 || n.root.children.byName != nil {
			t.Fatalf("left over: %d uses", n.root.uses)
		}
	})
}

// The records of a directory are a list, then a map, then gone, and few of them are kept.
func TestDirectory_growsAndShrinks(t *testing.T) {
	const many = 10 * fewChildren
	var q Queue
	var all []*Request
	take := func(name string) {
		r := new(Request)
		q.Ask(r, new(Owner), 1, false, []Claim{{name, X}})
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

// A queue that may grant no more leaves the others for the next time.
func TestQueue_fullGrantsNobodyElse(t *testing.T) {
	grants := 0
	q := Queue{Granted: func(*Request) { grants++ }, Full: func() bool { return grants == 2 }}
	first := new(Request)
	q.Ask(first, new(Owner), 0, true, nil)
	q.Grant(first)
	for i := range 5 {
		r := new(Request)
		q.Ask(r, new(Owner), uint64(i+1), false, []Claim{{fmt.Sprint("/", i), X}})
		q.Wait(r, first)
	}
	left := q.Remove(first)
	q.Settle(left)
	for _, r := range left {
		if r.Granted() != (r.Order <= 2) || grants != 2 || q.Waiters() != 3 {
			t.Errorf("%d granted, %d left; request %d: granted %v", grants, q.Waiters(), r.Order, r.Granted())
		}
	}
}
