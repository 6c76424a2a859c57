package pathlock

import (
	"container/heap"
	"slices"
	"time"
)

// place is where the renewer has a holding: in the fresh list, on an agenda, or in neither.
type place struct {
	listed bool    // in the fresh list
	agenda *agenda // nil where the holding is on none
	index  int     // in the list or on the agenda
}

// fresh lists the holdings that the renewer's timer has not seen yet, in no particular order.
type fresh []*holding

func (f *fresh) add(h *holding) {
	h.place = place{listed: true, index: len(*f)}
	*f = append(*f, h)
}

// remove takes h off the list, and reports whether it was there.
func (f *fresh) remove(h *holding) bool {
	if !h.place.listed {
		return false
	}
	i, last := h.place.index, len(*f)-1
	(*f)[i] = (*f)[last]
	(*f)[i].place.index = i
	*f = slices.Delete(*f, last, last+1)
	h.place = place{}
	return true
}

// plan orders the holdings by what is due next: the trees by their first holding, and the holdings
// within each tree. Finding what is due costs as much as there is due, however much is held.
type plan struct {
	trees map[Tree]*agenda
	order schedule[*agenda]
}

// agenda has the holdings of one tree.
type agenda struct {
	tree     Tree
	holdings schedule[*holding]
	index    int // in the plan's order
}

func (a *agenda) next() time.Time { return a.holdings[0].next() }
func (a *agenda) moved(to int)    { a.index = to }

func (h *holding) next() time.Time { return h.term.next() }
func (h *holding) moved(to int)    { h.place.index = to }

func (p *plan) add(h *holding) {
	a := p.trees[h.tree]
	if a == nil {
		if p.trees == nil {
			p.trees = make(map[Tree]*agenda)
		}
		a = &agenda{tree: h.tree}
		p.trees[h.tree] = a
	}
	h.place = place{agenda: a}
	heap.Push(&a.holdings, h)
	if len(a.holdings) == 1 {
		heap.Push(&p.order, a)
	} else {
		heap.Fix(&p.order, a.index)
	}
}

// remove takes a holding off the plan, if it is on it.
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
		p.trees = nil // a map keeps the memory of its largest size
	}
}

// fix restores the order after a holding's term has changed.
func (p *plan) fix(h *holding) {
	if a := h.place.agenda; a != nil {
		heap.Fix(&a.holdings, h.place.index)
		heap.Fix(&p.order, a.index)
	}
}

// due returns an agenda with something due by now, nil if there is none.
func (p *plan) due(now time.Time) *agenda {
	if len(p.order) == 0 || p.order[0].next().After(now) {
		return nil
	}
	return p.order[0]
}

// schedule is a heap by what is due next. Its elements know their index.
type schedule[T interface {
	next() time.Time
	moved(to int)
}] []T

func (s schedule[T]) Len() int           { return len(s) }
func (s schedule[T]) Less(i, j int) bool { return s[i].next().Before(s[j].next()) }
func (s schedule[T]) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].moved(i)
	s[j].moved(j)
}

func (s *schedule[T]) Push(x any) {
	x.(T).moved(len(*s))
	*s = append(*s, x.(T))
}

func (s *schedule[T]) Pop() any {
	last := len(*s) - 1
	x := (*s)[last]
	*s = slices.Delete(*s, last, last+1)
	return x
}
