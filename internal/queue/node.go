package queue

import "strings"

// node is the record of one node on or below which somebody holds or waits, or of the gate, which
// is above the root.
type node struct {
	parent   *node // nil for the root, the gate, and an unused record
	name     string
	children children
	sibling  *node // the next child of the parent, or the next unused record

	uses             int // claims in all lists, and children
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

// children are the records of the nodes right below a node. They are in a list while they are few,
// as nearly everywhere. Once they are more, they are in a map by name until the last one goes.
type children struct {
	first  *node // linked by sibling, nil while there is a map
	listed int
	byName map[string]*node
}

// fewChildren is the longest list.
const fewChildren = 8

// find returns the child with a name, nil if there is none.
func (c *children) find(name string) *node {
	if c.byName != nil {
		return c.byName[name]
	}
	for n := c.first; n != nil; n = n.sibling {
		if n.name == name {
			return n
		}
	}
	return nil
}

// add adds a child with a new name.
func (c *children) add(n *node) {
	if c.byName == nil && c.listed == fewChildren {
		c.byName = make(map[string]*node)
		for n := c.first; n != nil; n = n.sibling {
			c.byName[n.name] = n
		}
		c.first, c.listed = nil, 0
	}
	if c.byName != nil {
		c.byName[n.name] = n
		return
	}
	n.sibling, c.first = c.first, n
	c.listed++
}

// remove takes out one of the children.
func (c *children) remove(n *node) {
	if c.byName != nil {
		if delete(c.byName, n.name); len(c.byName) == 0 {
			c.byName = nil
		}
		return
	}
	link := &c.first
	for *link != n {
		link = &(*link).sibling
	}
	*link = n.sibling
	c.listed--
}

// nodes are the records of one queue. The root and the gate are always there, and any other node
// while it has a use.
type nodes struct {
	gate, root node
	unused     *node // spare records, linked by sibling
	spare      int
}

// mostSpare bounds the spare records of a queue. It is enough for a few deep paths.
const mostSpare = 64

// find returns the record of a path that is below n by the given names, such as "/a/b". It makes
// the records that are missing on the way down. prune forgets them if they stay unused.
func (t *nodes) find(n *node, names string) *node {
	for names != "" {
		name, more := names[1:], ""
		if i := strings.IndexByte(name, '/'); i >= 0 {
			name, more = name[:i], name[i:]
		}
		child := n.children.find(name)
		if child == nil {
			child = t.newChild(n, name)
		}
		n, names = child, more
	}
	return n
}

func (t *nodes) newChild(parent *node, name string) *node {
	n := t.unused
	if n == nil {
		n = new(node)
	} else {
		t.unused = n.sibling
		t.spare--
	}
	n.parent, n.name, n.sibling = parent, name, nil
	parent.children.add(n)
	parent.uses++
	return n
}

// prune forgets an unused record, and those above it that become unused with it.
func (t *nodes) prune(n *node) {
	for n.uses == 0 && n.parent != nil {
		parent := n.parent
		parent.children.remove(n)
		parent.uses--
		n.parent, n.name, n.sibling = nil, "", nil
		if t.spare < mostSpare {
			n.sibling, t.unused = t.unused, n
			t.spare++
		}
		n = parent
	}
}
