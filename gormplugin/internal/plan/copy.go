package plan

import (
	"errors"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/operation"
)

// Copy is where a copy of a subtree goes from and to.
type Copy struct {
	// Source is the row that is copied, and Above the one that the copy hangs below, nil for the
	// top.
	Source, Above *Node
	// After is the new top row, without its id.
	After    *Node
	From, To pathlock.Location
	// Snapshot is set where nobody is kept from changing the source.
	Snapshot bool
}

// Copy works out the place of a copy of source, under another name unless that is "".
func (s *Shape) Copy(source, above *Node, name string, snapshot bool) (*Copy, error) {
	x := &Copy{Source: source, Above: above, Snapshot: snapshot, After: &Node{Tree: source.Tree, Name: source.Name}}
	if above == nil && s.IsLeaf() {
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

// Requests implements [Demand].
func (x *Copy) Requests(note string, wait time.Duration) []pathlock.Request {
	op := operation.Operation{Kind: operation.Copy, Node: x.From.Path, Dest: x.To.Path.Parent(), Name: x.To.Path.Base(), Snapshot: x.Snapshot}
	if x.From.Tree == x.To.Tree {
		return []pathlock.Request{{Tree: x.To.Tree, Wait: wait, Note: note, Claims: op.Claims(operation.NameSlot)}}
	}
	requests := []pathlock.Request{{Tree: x.To.Tree, Wait: wait, Note: note, Claims: []pathlock.Claim{pathlock.X(x.To.Path)}}}
	if !x.Snapshot {
		requests = append(requests, pathlock.Request{Tree: x.From.Tree, Wait: wait, Note: note, Claims: []pathlock.Claim{pathlock.S(x.From.Path)}})
	}
	return inOrder(requests)
}
