package locktable

// children are the records of the nodes right below a node. They are in a list while they are few,
// as nearly everywhere. Then they are in a map by name until the last one goes.
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
