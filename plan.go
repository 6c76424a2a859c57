package pathlock

import (
	"container/heap"
	"time"
)

// fresh lists the holdings that the renewer's timer has not seen yet.
type fresh struct{ first *holding }

// place is where the renewer has a holding.
type place struct {
	listed        bool // among the fresh ones
	before, after *holding
	agenda        *agenda // nil where the holding is on none
	index         int     // on the agenda
}

func (f *fresh) add(h *holding) {
	h.place = place{listed: true, after: f.first}
	if f.first != nil {
		f.first.place.before = h
	}
	f.first = h
}

// remove takes h off the list, and reports whether it was there.
func (f *fresh) remove(h *holding) bool {
	p := &h.place
	if !p.listed {
		return false
	}
	if p.before != nil {
		p.before.place.after = p.after
	} else {
		f.first = p.after
	}
	if p.after != nil {
		p.after.place.before = p.before
	}
	*p = place{}
	return true
}

// plan has the holdings by what is due next: the trees by their first one, and each tree's own. To
// find what is due costs as much as there is due, however much is held.
type plan struct {
	trees map[Tree]*agenda
	order agendas
}

// agenda has the holdings of one tree, the one that is due next first.
type agenda struct {
	tree     Tree
	holdings holdings
	index    int // in the plan's order
}

func (a *agenda) next() time.Time { return a.holdings[0].term.next() }

// add enters a holding.
func (p *plan) add(h *holding) {
	a := p.trees[h.tree]
	if a == nil {
		if p.trees == nil {
			p.trees = make(map[Tree]*agenda)
		}
		a = &agenda{tree: h.tree}
		p.trees[h.tree] = a
	}
	h.place.agenda = a
	heap.Push(&a.holdings, h)
	if len(a.holdings) == 1 {
		heap.Push(&p.order, a)
	} else {
		heap.Fix(&p.order, a.index)
	}
}

// remove takes a holding out, if it is in.
func (p *plan) remove(h *holding) {
	a := h.place.agenda
	if a == nil {
		return
	}
	heap.Remove(&a.holdings, h.place.index)
	h.place = place{}
	if len(a.holdings) > 0 {
		heap.Fix(&p.order, a.index)
		return
	}
	heap.Remove(&p.order, a.index)
	if delete(p.trees, a.tree); len(p.trees) == 0 {
		p.trees = nil // a map keeps the memory of all that it ever had at once
	}
}

// fix puts a holding in its place after its term has changed.
func (p *plan) fix(h *holding) {
	if a := h.place.agenda; a != nil {
		heap.Fix(&a.holdings, h.place.index)
		heap.Fix(&p.order, a.index)
	}
}

// due returns the agenda that something is due on by now, nil if there is none.
func (p *plan) due(now time.Time) *agenda {
	if len(p.order) == 0 || p.order[0].next().After(now) {
		return nil
	}
	return p.order[0]
}

// holdings is a heap by what is due next.
type holdings []*holding

func (s holdings) Len() int           { return len(s) }
func (s holdings) Less(i, j int) bool { return s[i].term.next().Before(s[j].term.next()) }
func (s holdings) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].place.index, s[j].place.index = i, j
}

func (s *holdings) Push(x any) {
	h := x.(*holding)
	h.place.index = len(*s)
	*s = append(*s, h)
}

func (s *holdings) Pop() any {
	last := len(*s) - 1
	h := (*s)[last]
	(*s)[last] = nil
	*s = (*s)[:last]
	return h
}

// agendas is a heap by what is due next.
type agendas []*agenda

func (s agendas) Len() int           { return len(s) }
func (s agendas) Less(i, j int) bool { return s[i].next().Before(s[j].next()) }
func (s agendas) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].index, s[j].index = i, j
}

func (s *agendas) Push(x any) {
	a := x.(*agenda)
	a.index = len(*s)
	*s = append(*s, a)
}

func (s *agendas) Pop() any {
	last := len(*s) - 1
	a := (*s)[last]
	(*s)[last] = nil
	*s = (*s)[:last]
	return a
}
