package locktable

import (
	"iter"
	"math/bits"

	"github.com/pathlock-go/pathlock"
)

// node is the record of one node on or below which somebody holds or waits, or of the gate, which
// is above the root.
type node struct {
	parent   *node // nil for the root, the gate, and an unused record
	name     string
	children children
	sibling  *node // the next child of the parent

	uses    int // places in all lists, and children
	granted places
	waiting places
}

// place is one claim of one request: its element in one list of the claimed node.
type place struct {
	pathlock.Claim
	request    *Request
	node       *node
	prev, next *place
}

// ofGate reports whether p is the claim that every request has on the gate.
func (p *place) ofGate() bool { return p == &p.request.places[0] }

// places are the granted or the waiting places of one node, by mode.
type places struct {
	modes modes // those whose lists have elements
	lists [pathlock.ModeX + 1]list
}

func (s *places) append(p *place) {
	s.modes |= 1 << p.Mode
	s.lists[p.Mode].append(p)
}

func (s *places) remove(p *place) {
	l := &s.lists[p.Mode]
	if l.remove(p); l.first == nil {
		s.modes &^= 1 << p.Mode
	}
}

// against yields the lists with elements of the modes that are incompatible with p's.
func (s *places) against(p *place) iter.Seq[*list] {
	return func(yield func(*list) bool) {
		for some := s.modes & incompatible[p.Mode]; some != 0; some &= some - 1 {
			if !yield(&s.lists[bits.TrailingZeros8(uint8(some))]) {
				return
			}
		}
	}
}

// modes is a set of lock modes, with a bit for each.
type modes uint8

// incompatible has, for each mode, the modes that are incompatible with it.
var incompatible = func() (table [pathlock.ModeX + 1]modes) {
	for a := pathlock.ModeIS; a <= pathlock.ModeX; a++ {
		for b := pathlock.ModeIS; b <= pathlock.ModeX; b++ {
			if !pathlock.Compatible(a, b) {
				table[a] |= 1 << b
			}
		}
	}
	return table
}()

// list is a doubly linked list of places in order of arrival.
type list struct {
	first, last *place
}

func (l *list) append(p *place) {
	p.prev, p.next = l.last, nil
	if l.last == nil {
		l.first = p
	} else {
		l.last.next = p
	}
	l.last = p
}

func (l *list) remove(p *place) {
	if p.prev == nil {
		l.first = p.next
	} else {
		p.prev.next = p.next
	}
	if p.next == nil {
		l.last = p.prev
	} else {
		p.next.prev = p.prev
	}
	p.prev, p.next = nil, nil
}

// isFree reports whether nothing held or waited for on p's node conflicts with p.
func (p *place) isFree() bool {
	return (p.node.granted.modes|p.node.waiting.modes)&incompatible[p.Mode] == 0
}

// holders yields the places of other owners' grants that conflict with p.
func (p *place) holders(yield func(*place) bool) {
	for l := range p.node.granted.against(p) {
		for q := l.first; q != nil; q = q.next {
			if q.request.owner != p.request.owner && !yield(q) {
				return
			}
		}
	}
}

// before returns the last place of a list of waiters that came before a ticket, nil if there is
// none. It searches from both ends, since the ticket is mostly that of the first or the last
// waiter.
func (l *list) before(ticket uint64) *place {
	var before *place
	for early, late := l.first, l.last; early != nil && early.request.ticket < ticket; early, late = early.next, late.prev {
		if late.request.ticket < ticket {
			return late
		}
		before = early
	}
	return before
}
