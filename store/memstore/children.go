package memstore

// children are the records of the nodes right below a node: a list while they are few, as they are
// nearly everywhere, and a map by name from then on until the last one goes.
type children struct {
	first  *node // linked by sibling; nil while there is a map
	listed int
	byName map[string]*node
}

// fewChildren is how many records a list has at most.
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

// add enters a child whose name no other one has.
func (c *children) add(n *node) {
	if c.byName == nil && c.listed == fewChildren {
		c.index()
	}
	if c.byName != nil {
		c.byName[n.name] = n
		return
	}
	n.sibling, c.first = c.first, n
	c.listed++
}

// index turns the list into a map.
func (c *children) index() {
	c.byName = make(map[string]*node)
	for n := c.first; n != nil; n = n.sibling {
		c.byName[n.name] = n
	}
	c.first, c.listed = nil, 0
}

// remove takes out a child that is in there.
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
