package copying

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/hold"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/internal/operation"
	"gorm.io/gorm"
)

// plan is where a copy goes from and to.
type plan struct {
	source, above *table.Node
	// after is the new top row, without its id.
	after    *table.Node
	from, to pathlock.Location
	snapshot bool
	// chains are the nodes that must stay where they are, and known has what was read of the rows
	// above them.
	chains []*table.Node
	known  map[any]*table.Node
}

// Requests implements [hold.Demand].
func (x *plan) Requests(note string, wait time.Duration) []pathlock.Request {
	op := operation.Operation{Kind: operation.Copy, Node: x.from.Path, Dest: x.to.Path.Parent(), Name: x.to.Path.Base(), Snapshot: x.snapshot}
	if x.from.Tree == x.to.Tree {
		return []pathlock.Request{{Tree: x.to.Tree, Wait: wait, Note: note, Claims: op.Claims(operation.NameSlot)}}
	}
	requests := []pathlock.Request{{Tree: x.to.Tree, Wait: wait, Note: note, Claims: []pathlock.Claim{pathlock.X(x.to.Path)}}}
	if !x.snapshot {
		requests = append(requests, pathlock.Request{Tree: x.from.Tree, Wait: wait, Note: note, Claims: []pathlock.Claim{pathlock.S(x.from.Path)}})
	}
	return hold.InOrder(requests)
}

// planCopy reads where the row is and where its copy is to be.
func (c *Copier) planCopy(db *gorm.DB, req *Request, lock dialect.RowLock) (*plan, error) {
	t := req.Table
	x := &plan{snapshot: req.Snapshot}
	ids := []any{req.ID}
	if t.IsLeaf() {
		leaf, err := t.ByID(db, ids, lock)
		if err != nil {
			return nil, err
		}
		if x.source = leaf[req.ID]; x.source == nil {
			return nil, fmt.Errorf("%w: %s", pathlock.ErrNotFound, t.RowName(req.ID))
		}
		ids = []any{x.source.Parent}
	}
	if req.Parent != nil && !slices.Contains(ids, req.Parent) {
		ids = append(ids, req.Parent)
	}
	var err error
	if x.known, err = t.Above.Rows(db, ids, lock); err != nil {
		return nil, err
	}
	need := func(id any) *table.Node {
		n := x.known[id]
		switch {
		case n == nil && err == nil:
			err = fmt.Errorf("%w: %s", pathlock.ErrNotFound, t.Above.RowName(id))
		case n != nil && !slices.Contains(x.chains, n):
			x.chains = append(x.chains, n)
		}
		return n
	}
	if !t.IsLeaf() {
		x.source = need(req.ID)
	} else if parent := need(x.source.Parent); parent != nil {
		x.source.Tree = parent.Tree
		t.Follow(x.source, parent)
	}
	if req.Parent != nil {
		x.above = need(req.Parent)
	}
	if err != nil {
		return nil, err
	}
	if req.Parent == nil && t.IsLeaf() {
		return nil, t.Misplaced("a leaf needs a parent")
	}
	return x, placeCopy(t, req, x)
}

// placeCopy works out the new top row's place.
func placeCopy(t *table.Table, req *Request, x *plan) error {
	x.after = &table.Node{Parent: req.Parent, Tree: x.source.Tree, Name: x.source.Name}
	if req.Name != "" {
		x.after.Name = req.Name
	}
	if x.above != nil {
		x.after.Tree = x.above.Tree
	}
	t.Follow(x.after, x.above)
	var err error
	if x.to, err = t.CheckedLocation(x.after, false); err != nil {
		if errors.Is(err, pathlock.ErrInvalidPath) && x.after.Name == x.source.Name && x.source.Name != "" {
			err = t.Damaged(x.source.ID, err)
		}
		return err
	}
	if err := t.CheckDepth(x.to.Path); err != nil {
		return err
	}
	x.from, err = t.Location(x.source)
	return err
}

// assertCopy row-locks the row, the new parent, and everything above both, and checks that all of
// them are where they were planned to be.
func (c *Copier) assertCopy(db *gorm.DB, t *table.Table, x *plan) error {
	if _, err := c.LockChains(db, t.Above, x.chains, x.known); err != nil {
		return err
	}
	if !t.IsLeaf() {
		return nil
	}
	found, err := t.ByID(db, []any{x.source.ID}, c.Dialect.Share)
	if err != nil {
		return err
	}
	if n := found[x.source.ID]; n == nil || n.Parent != x.source.Parent || n.Name != x.source.Name {
		return &fault.PathChangedError{Table: t.TableName, ID: x.source.ID, Planned: x.source.Path}
	}
	return nil
}
