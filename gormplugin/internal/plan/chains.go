package plan

import (
	"iter"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
)

// Chains are rows to lock, with everything above them as far as that is known.
type Chains struct {
	shape   *Shape
	planned []*Node
	// Locked are the rows that are locked by now, by id.
	Locked map[any]*Node
	asked  map[any]bool
	ids    []any
}

// Chains returns the chains of the planned rows. known are rows that were read before, which
// suggest what to lock at once. The caller locks the rows with the ids in others.
func (s *Shape) Chains(planned []*Node, known map[any]*Node, others []any) *Chains {
	c := &Chains{shape: s, planned: planned, Locked: make(map[any]*Node), asked: make(map[any]bool)}
	for _, id := range others {
		c.asked[id] = true
	}
	climbed := make(map[any]bool)
	for _, n := range planned {
		for n != nil && !climbed[n.ID] {
			climbed[n.ID] = true
			c.ask(n.ID)
			n = known[n.Parent]
		}
	}
	return c
}

// ask notes a row to lock.
func (c *Chains) ask(id any) {
	if id != nil && !c.asked[id] {
		c.asked[id] = true
		c.ids = append(c.ids, id)
	}
}

// Next returns the ids of the rows to lock now.
func (c *Chains) Next() []any {
	ids := c.ids
	c.ids = nil
	return ids
}

// Found notes rows that have been locked, and asks for what is above them.
func (c *Chains) Found(rows iter.Seq[*Node]) {
	for n := range rows {
		c.Locked[n.ID] = n
		c.ask(n.Parent)
	}
}

// Check checks that every planned row is where it was planned to be, that every path on the way
// down to it is the parent's path + "/" + name, and that nothing on the way is deleted. Otherwise
// the error is a [*fault.PathChangedError].
func (c *Chains) Check() error {
	for _, n := range c.planned {
		if err := c.check(n); err != nil {
			return err
		}
	}
	return nil
}

// check checks one planned row and everything above it, up to the top.
func (c *Chains) check(planned *Node) error {
	changed := &fault.PathChangedError{Table: c.shape.TableName, ID: planned.ID, Planned: planned.Path}
	n := c.Locked[planned.ID]
	if n == nil {
		return changed
	}
	if n.Path != planned.Path || n.IDs != planned.IDs || n.Tree != planned.Tree {
		changed.Actual = n.Path
		if n.Path == planned.Path && n.IDs != planned.IDs {
			changed.Planned, changed.Actual = planned.IDs, n.IDs
		}
		return changed
	}
	for range pathlock.MaxDepth + 1 {
		above := c.Locked[n.Parent]
		if n.Parent != nil && (above == nil || above.Tree != n.Tree) {
			return changed
		}
		if err := c.shape.inPlace(n, above); err != nil {
			return err
		}
		if n.Parent == nil {
			return nil
		}
		n = above
	}
	return changed
}
