package queue

// node is the record of one node on which somebody holds or waits, or of the gate, which is above
// the root.
type node struct {
	path             string
	uses             int // claims in all lists
	granted, waiting claims
}

// list is a doubly linked list of claims in order of arrival.
type list struct {
	first, last *claim
}

func (l *list) add(c *claim) {
	c.prev, c.next = l.last, nil
	if l.last == nil {
		l.first = c
	} else {
		l.last.next = c
	}
	l.last = c
}

func (l *list) remove(c *claim) {
	if c.prev == nil {
		l.first = c.next
	} else {
		c.prev.next = c.next
	}
	if c.next == nil {
		l.last = c.prev
	} else {
		c.next.prev = c.prev
	}
	c.prev, c.next = nil, nil
}

// before returns the last claim of a list of waiters that came before a place in the order, nil if
// there is none. It searches from both ends, since the place is mostly that of the first or the
// last waiter.
func (l *list) before(order uint64) *claim {
	var before *claim
	for early, late := l.first, l.last; early != nil && early.request.Order < order; early, late = early.next, late.prev {
		if late.request.Order < order {
			return late
		}
		before = early
	}
	return before
}

// nodes are the records of one queue. That of the gate is always there, and any other while it has
// a use.
type nodes struct {
	gate   node
	byPath map[string]*node
	spare  []*node
}

// mostSpare bounds the spare records of a queue. It is enough for a few deep paths.
const mostSpare = 64

// find returns the record of a path, a new one if it is missing. prune forgets it if it stays
// unused.
func (t *nodes) find(path string) *node {
	n := t.byPath[path]
	if n != nil {
		return n
	}
	if last := len(t.spare) - 1; last >= 0 {
		n, t.spare = t.spare[last], t.spare[:last]
	} else {
		n = new(node)
	}
	if t.byPath == nil {
		t.byPath = make(map[string]*node)
	}
	n.path, t.byPath[path] = path, n
	return n
}

// prune forgets a record that has no use.
func (t *nodes) prune(n *node) {
	if n.uses > 0 || t.byPath[n.path] != n { // the gate is not there, and neither is a spare record
		return
	}
	delete(t.byPath, n.path)
	n.path = ""
	if len(t.spare) < mostSpare {
		t.spare = append(t.spare, n)
	}
}
