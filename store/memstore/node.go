package memstore

import "github.com/pathlock-go/pathlock"

// node is the record of one node on or below which somebody holds or waits, or
// that of the gate, which is above the root.
type node struct {
	parent   *node // nil for the root, the gate, and a record that is not in use
	name     string
	children children
	sibling  *node // the next one in the list of children that the node is in

	granted [pathlock.ModeX + 1]list
	waiting [pathlock.ModeX + 1]list
	uses    int // places in all lists, and children
}

// place is one claim of one request: its element in one list of the claimed node.
type place struct {
	pathlock.Claim
	request    *request
	node       *node
	prev, next *place
}

// ofGate reports whether p is the claim that every request has on the gate.
func (p *place) ofGate() bool { return p == &p.request.places[0] }

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

// holders yields the places of other owners' grants that conflict with p.
func (p *place) holders(yield func(*place) bool) {
	for mode := pathlock.ModeIS; mode <= pathlock.ModeX; mode++ {
		if pathlock.Compatible(mode, p.Mode) {
			continue
		}
		for q := p.node.granted[mode].first; q != nil; q = q.next {
			if q.request.owner != p.request.owner && !yield(q) {
				return
			}
		}
	}
}

// before returns the last place of a list of waiters that came before a ticket, nil if there is none. It
// looks from both ends, since those who look are mostly the first, or the last, of the queue.
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
