package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/internal/operation"
)

// Copy says which subtree is copied, and to where.
type Copy struct {
	// Source is the row that is copied, and Above the row above the copy, nil for the top.
	Source, Above *Node
	// After is the new top row, without its id.
	After    *Node
	From, To pathlock.Location
	// Snapshot is set if nobody is kept from changing the source.
	Snapshot bool
}

// Copy plans a copy of source below above, with another name unless that is "".
func (s *Shape) Copy(source, above *Node, name string, snapshot bool) (*Copy, error) {
	x := &Copy{Source: source, Above: above, Snapshot: snapshot, After: &Node{Tree: source.Tree, Name: source.Name}}
	if above == nil && s.IsLeaf {
		return nil, s.Misplaced("a leaf needs a parent")
	}
	if name != "" {
		x.After.Name = name
	}
	if above != nil {
		x.After.Parent, x.After.Tree = above.ID, above.Tree
	}
	s.Follow(x.After, above)
	var err error
	if x.To, err = s.checkedLocation(x.After, false); err != nil {
		if errors.Is(err, pathlock.ErrInvalidPath) && x.After.Name == source.Name && source.Name != "" {
			err = s.Damaged(source.ID, err)
		}
		return nil, err
	}
	if err := s.checkDepth(x.To.Path); err != nil {
		return nil, err
	}
	x.From, err = s.Location(source)
	return x, err
}

// Copied is a row of a copy.
type Copied struct {
	// Of is the row that was copied.
	Of *Node
	// Node is its copy, and Above the row above that, nil for the top.
	*Node
	Above *Node
}

// Levels returns the copies of the rows of the subtree, the top row first, then its children, and
// so on. It refuses a copy in which a path of names would not fit or a row would lie too deep, and
// rows whose paths do not follow from their parents'.
func (s *Shape) Levels(x *Copy, rows []*Node) (levels [][]*Copied, err error) {
	below := make(map[any][]*Node, len(rows))
	// Neighbours are copied together.
	for _, n := range slices.SortedFunc(slices.Values(rows), func(a, b *Node) int { return strings.Compare(a.Path, b.Path) }) {
		if n.ID == x.Source.ID {
			levels = [][]*Copied{{{Of: n, Node: x.After, Above: x.Above}}}
		} else {
			below[n.Parent] = append(below[n.Parent], n)
		}
	}
	changed := &fault.PathChangedError{Table: s.TableName, ID: x.Source.ID, Planned: x.Source.Path}
	if levels == nil {
		return nil, changed
	}
	placed := 0
	for i := 0; i < len(levels); i++ {
		var next []*Copied
		for _, above := range levels[i] {
			for _, n := range below[above.Of.ID] {
				if s.inPlace(n, above.Of) != nil {
					continue
				}
				c := &Copied{Of: n, Node: &Node{Tree: x.After.Tree, Name: n.Name}, Above: above.Node}
				if err := s.Settle(c, nil); err != nil {
					return nil, err
				}
				next = append(next, c)
			}
		}
		if depth := x.To.Path.Depth() + i + 1; len(next) > 0 && depth > s.MaxDepth {
			return nil, &fault.TooDeepError{Table: s.TableName, Path: x.After.Path, Depth: depth, Limit: s.MaxDepth}
		} else if len(next) > 0 {
			levels = append(levels, next)
		}
		placed += len(levels[i])
	}
	if placed < len(rows) {
		changed.Actual = x.Source.Path
		return nil, fmt.Errorf("gormplugin: %d of the %d rows below are not where their parents are: %w", len(rows)-placed, len(rows)-1, changed)
	}
	return levels, nil
}

// Settle gives a copy its id, nil while there is none, and what follows from the row above. It
// refuses a path that its column cannot hold, as far as ids are known.
func (s *Shape) Settle(c *Copied, id any) error {
	if err := s.CheckID(id); err != nil {
		return err
	}
	if c.ID = id; c.Above != nil {
		c.Parent = c.Above.ID
	}
	s.Follow(c.Node, c.Above)
	return s.checkPaths(c.Node, 0)
}

// Requests implements [Demand].
func (x *Copy) Requests(note string, wait time.Duration) []pathlock.Request {
	op := operation.Operation{Kind: operation.Copy, Node: x.From.Path, Dest: x.To.Path.Parent(), Name: x.To.Path.Base(), Snapshot: x.Snapshot}
	if x.From.Tree == x.To.Tree {
		return []pathlock.Request{{Tree: x.To.Tree, Wait: wait, Note: note, Claims: op.Claims(operation.NameSlot)}}
	}
	requests := []pathlock.Request{{Tree: x.To.Tree, Wait: wait, Note: note, Claims: op.DestClaims(operation.NameSlot)}}
	if source := op.NodeClaims(); source != nil {
		requests = append(requests, pathlock.Request{Tree: x.From.Tree, Wait: wait, Note: note, Claims: source})
	}
	return inOrder(requests)
}
