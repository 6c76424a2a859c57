package locktable

import (
	"fmt"

	"github.com/pathlock-go/pathlock"
)

// Audit checks what must be true of a table whenever nobody uses it. It serves the tests of the
// stores that are built on tables.
func (t *Table) Audit() error {
	requests, waiting := t.allRequests()
	places := make(map[*node]int)
	for r := range requests {
		for i := range r.places {
			p := &r.places[i]
			places[p.node]++
			if found := t.nodes.find(p); found != p.node {
				return fmt.Errorf("%s claims %v, which has another record", r.Note, p.Path)
			}
		}
	}
	if err := t.nodes.root.audit(places); err != nil {
		return err
	}
	if n := t.nodes.gate.uses; n != places[&t.nodes.gate] {
		return fmt.Errorf("the gate has %d uses, want %d", n, places[&t.nodes.gate])
	}
	if t.waiters != len(waiting) {
		return fmt.Errorf("%d waiters are counted, want %d", t.waiters, len(waiting))
	}
	for r := range requests {
		if err := r.audit(requests); err != nil {
			return err
		}
	}
	if err := newDefinition(requests).audit(t); err != nil {
		return err
	}
	return t.auditLeases()
}

// audit checks the records of a subtree against the places that requests have there.
func (n *node) audit(places map[*node]int) error {
	children := 0
	for child := range n.children.all {
		children++
		if child.parent != n || n.children.find(child.name) != child {
			return fmt.Errorf("node %q is lost to its parent %q", child.name, n.name)
		}
		if err := child.audit(places); err != nil {
			return err
		}
	}
	if n.uses != places[n]+children || n.uses == 0 && n.parent != nil {
		return fmt.Errorf("node %q has %d uses, want %d places and %d children", n.name, n.uses, places[n], children)
	}
	return nil
}

// find returns the record that a place should be at, by another way than the table has.
func (t *nodes) find(p *place) *node {
	if p.ofGate() {
		return &t.gate
	}
	n := &t.root
	for name := range p.Path.Names() {
		if n = n.children.find(name); n == nil {
			return nil
		}
	}
	return n
}

// allRequests returns the granted and the waiting requests, and the latter alone.
func (t *Table) allRequests() (all, waiting map[*Request]bool) {
	all, waiting = make(map[*Request]bool), make(map[*Request]bool)
	for _, o := range t.owners {
		for r := range o.grants.all {
			all[r] = true
		}
		for r := range o.waits.all {
			all[r], waiting[r] = true, true
		}
	}
	return all, waiting
}

// audit checks that no two holders conflict, and that every waiter watches somebody who is still in
// its way: a waiter with nothing in its way would have been forgotten.
func (r *Request) audit(requests map[*Request]bool) error {
	if r.granted() {
		for other := range requests {
			if other.granted() && conflict(r, other) {
				return fmt.Errorf("%s and %s hold what conflicts", r.Note, other.Note)
			}
		}
		return nil
	}
	switch w := r.watching; {
	case w == nil || !requests[w]:
		return fmt.Errorf("%s waits and watches nobody in the table", r.Note)
	case !conflict(r, w):
		return fmt.Errorf("%s watches %s, which is not in its way", r.Note, w.Note)
	case !w.granted() && (w.ticket > r.ticket || r.mayPass(w)):
		return fmt.Errorf("%s watches the waiter %s, which has no precedence", r.Note, w.Note)
	}
	return nil
}

// conflict compares two requests claim by claim.
func conflict(a, b *Request) bool {
	if a.owner == b.owner {
		return false
	}
	for i := range a.places {
		for j := range b.places {
			if a.places[i].node == b.places[j].node && !pathlock.Compatible(a.places[i].Mode, b.places[j].Mode) {
				return true
			}
		}
	}
	return false
}

// auditLeases checks the heap of lease ends.
func (t *Table) auditLeases() error {
	leased := 0
	for _, o := range t.owners {
		if o.lease.runs != o.holds() {
			return fmt.Errorf("owner %s holds: %v, has a lease: %v", o.id, o.holds(), o.lease.runs)
		}
		all := []*lease{&o.lease}
		for r := range o.grants.all {
			if r.apartLease != nil {
				all = append(all, r.apartLease)
			}
		}
		for r := range o.waits.all {
			if r.life != nil {
				all = append(all, r.life)
			}
		}
		for _, e := range all {
			if !e.runs {
				continue
			}
			leased++
			if t.leases[e.index] != e || e.until.Before(t.leases[0].until) {
				return fmt.Errorf("a lease of %s is not where it belongs", o.id)
			}
		}
	}
	if leased != len(t.leases) {
		return fmt.Errorf("%d leases, want %d", len(t.leases), leased)
	}
	return nil
}

// all yields every child.
func (c *children) all(yield func(*node) bool) {
	for _, n := range c.byName {
		if !yield(n) {
			return
		}
	}
	for n := c.first; n != nil; n = n.sibling {
		if !yield(n) {
			return
		}
	}
}
