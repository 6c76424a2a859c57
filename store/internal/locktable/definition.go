package locktable

import (
	"fmt"
	"slices"
)

// definition is who waits for whom, in the words of the definition: plain recursion over two lists.
type definition struct {
	granted, waiting []*Request
	passes           map[[2]*Request]bool // what mayPass has said
}

func newDefinition(requests map[*Request]bool) *definition {
	d := &definition{passes: make(map[[2]*Request]bool)}
	for r := range requests {
		if r.granted() {
			d.granted = append(d.granted, r)
		} else {
			d.waiting = append(d.waiting, r)
		}
	}
	slices.SortFunc(d.waiting, byArrival)
	return d
}

// waitsFor says whether w waits for a. Of requests later than limit whose owners hold something, it
// does not look at whom they are behind.
func (d *definition) waitsFor(w *Request, a *owner, limit uint64, seen map[*Request]bool) bool {
	if w.owner == a || seen[w] {
		return false
	}
	seen[w] = true
	for _, h := range d.granted {
		if !conflict(w, h) {
			continue
		}
		if h.owner == a {
			return true
		}
		for _, u := range d.waiting {
			if u.owner == h.owner && d.waitsFor(u, a, limit, seen) {
				return true
			}
		}
	}
	for _, v := range d.waiting {
		if w.ticket > limit && w.owner.holds() {
			break
		}
		if v.ticket < w.ticket && conflict(w, v) && !d.mayPass(w, v) && d.waitsFor(v, a, limit, seen) {
			return true
		}
	}
	return false
}

// mayPass says whether w need not wait for v, which came before it.
func (d *definition) mayPass(w, v *Request) bool {
	if !w.owner.holds() {
		return false
	}
	pair := [2]*Request{w, v}
	if known, ok := d.passes[pair]; ok {
		return known
	}
	d.passes[pair] = d.waitsFor(v, w.owner, w.ticket, make(map[*Request]bool))
	return d.passes[pair]
}

// audit checks what a table knows of those who wait, and that nobody waits who need not.
func (d *definition) audit(t *Table) error {
	passers := 0
	for _, w := range d.waiting {
		free := true
		for _, h := range d.granted {
			free = free && !conflict(w, h)
		}
		passed := 0
		for _, v := range d.waiting {
			if v.ticket >= w.ticket || !conflict(w, v) {
				continue
			}
			may := d.mayPass(w, v)
			if known := w.mayPass(v); known != may {
				return fmt.Errorf("%s passes %s: %v, want %v", w.Note, v.Note, known, may)
			}
			if may {
				passed++
			} else {
				free = false
			}
		}
		if passed > 0 {
			passers++
		}
		if free {
			return fmt.Errorf("%s waits for nobody", w.Note)
		}
		if _, known := t.conversions[w]; known != w.owner.holds() {
			return fmt.Errorf("the owner of %s holds something: %v, taken for: %v", w.Note, w.owner.holds(), known)
		}
		if w.owner.holds() && d.closesCycle(w) {
			return fmt.Errorf("the owner of %s waits for itself", w.Note)
		}
	}
	// One whom a passer has passed may have been granted meanwhile, so that there may be too many
	// passers.
	if len(d.waiting) == 0 && len(t.conversions)+t.passers > 0 || t.passers < passers || t.stale || len(t.suspects) > 0 {
		return fmt.Errorf("%d pass somebody, taken for %d; stale: %v", passers, t.passers, t.stale)
	}
	return nil
}

// closesCycle says whether somebody whom w waits for waits for w's owner.
func (d *definition) closesCycle(w *Request) bool {
	for _, h := range d.granted {
		if !conflict(w, h) {
			continue
		}
		for _, u := range d.waiting {
			if u.owner == h.owner && d.waitsFor(u, w.owner, noLimit, make(map[*Request]bool)) {
				return true
			}
		}
	}
	for _, v := range d.waiting {
		if v.ticket < w.ticket && conflict(w, v) && !d.mayPass(w, v) && d.waitsFor(v, w.owner, noLimit, make(map[*Request]bool)) {
			return true
		}
	}
	return false
}
