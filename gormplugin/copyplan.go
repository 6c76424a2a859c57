package gormplugin

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/lockspec"
	"gorm.io/gorm"
)

// copyPlan is where a copy goes from and to.
type copyPlan struct {
	source, above *node
	// after is the new top row, without its id.
	after    *node
	from, to site
	snapshot bool
	// chains are the nodes that must stay where they are, and known what was read of the rows above
	// them.
	chains []*node
	known  map[any]*node
}

// requests implements [demand].
func (x *copyPlan) requests(note string, wait time.Duration) []pathlock.Request {
	op := lockspec.Operation{Kind: lockspec.OpCopy, Node: x.from.path, Dest: x.to.path.Parent(), Name: x.to.path.Base(), Snapshot: x.snapshot}
	if x.from.tree == x.to.tree {
		return []pathlock.Request{{Tree: x.to.tree, Wait: wait, Note: note, Claims: op.Claims(lockspec.NameSlot)}}
	}
	requests := []pathlock.Request{{Tree: x.to.tree, Wait: wait, Note: note, Claims: []pathlock.Claim{pathlock.X(x.to.path)}}}
	if !x.snapshot {
		requests = append(requests, pathlock.Request{Tree: x.from.tree, Wait: wait, Note: note, Claims: []pathlock.Claim{pathlock.S(x.from.path)}})
	}
	return inOrder(requests)
}

// planCopy reads where the row is and where its copy is to be.
func (p *copier) planCopy(db *gorm.DB, c *copying, lock dialect.RowLock) (*copyPlan, error) {
	t := c.table
	x := &copyPlan{snapshot: c.snapshot, known: make(map[any]*node)}
	ids := []any{c.id}
	if t.isLeaf() {
		leaf, err := t.byID(db, ids, lock)
		if err != nil {
			return nil, err
		}
		if x.source = leaf[c.id]; x.source == nil {
			return nil, fmt.Errorf("%w: %s", pathlock.ErrNotFound, t.row(c.id))
		}
		ids = []any{x.source.parent}
	}
	if c.parent != nil && !slices.Contains(ids, c.parent) {
		ids = append(ids, c.parent)
	}
	found, err := t.above.rows(db, ids, lock)
	if err != nil {
		return nil, err
	}
	maps.Copy(x.known, found)
	need := func(id any) *node {
		n := found[id]
		switch {
		case n == nil && err == nil:
			err = fmt.Errorf("%w: %s", pathlock.ErrNotFound, t.above.row(id))
		case n != nil && !slices.Contains(x.chains, n):
			x.chains = append(x.chains, n)
		}
		return n
	}
	if !t.isLeaf() {
		x.source = need(c.id)
	} else if parent := need(x.source.parent); parent != nil {
		x.source.tree = parent.tree
		t.follow(x.source, parent)
	}
	if c.parent != nil {
		x.above = need(c.parent)
	}
	if err != nil {
		return nil, err
	}
	if c.parent == nil && t.isLeaf() {
		return nil, t.unsupported("a leaf needs a parent")
	}
	return x, t.placeCopy(c, x)
}

// placeCopy works out the new top row's place.
func (t *table) placeCopy(c *copying, x *copyPlan) error {
	x.after = &node{parent: c.parent, tree: x.source.tree, name: x.source.name}
	if c.name != "" {
		x.after.name = c.name
	}
	if x.above != nil {
		x.after.tree = x.above.tree
	}
	t.follow(x.after, x.above)
	var err error
	if x.to, err = t.siteOf(x.after, false); err != nil {
		return err
	}
	if err := t.checkDepth(x.to.path); err != nil {
		return err
	}
	if x.from.tree, err = t.above.treeOf(x.source.tree); err != nil {
		return err
	}
	x.from.path, err = pathlock.ParsePath(x.source.path)
	return err
}

// assertCopy row-locks the row, where it is to be copied to, and everything above both, and checks
// that all of it is where it was planned to be.
func (p *copier) assertCopy(db *gorm.DB, t *table, x *copyPlan) error {
	if _, err := p.lockChains(db, t.above, x.chains, x.known); err != nil {
		return err
	}
	if !t.isLeaf() {
		return nil
	}
	found, err := t.byID(db, []any{x.source.id}, p.Dialect.Share)
	if err != nil {
		return err
	}
	if n := found[x.source.id]; n == nil || n.parent != x.source.parent || n.name != x.source.name {
		return &fault.PathChangedError{Table: t.name, ID: x.source.id, Planned: x.source.path}
	}
	return nil
}
