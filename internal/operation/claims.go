package operation

import (
	"slices"

	"github.com/pathlock-go/pathlock"
)

// Claims returns what the operation locks, without the intentions on the ancestors, which
// [pathlock.Normalize] adds:
//
//	            parent-exclusive          name-slot, with the name known
//	insert      X(Dest)                   X(Dest/Name)
//	rename      X(Node), X(its parent)    X(Node), X(its parent/Name)
//	move        X(Node), X(Dest)          X(Node), X(Dest/its name)
//	copy        S(Node), X(Dest)          S(Node), X(Dest/Name)
//	… snapshot  X(Dest)                   X(Dest/Name)
//	delete      X(Node)
//	edit        IX(Node)
//	read        S(Node)
//	slot        X(Node)
//	gate        X(root), what the gate amounts to
//
// A Name that no node can have locks the parent, as an unknown name does. An operation that changes
// nothing, such as a move to where the node is, locks less.
func (o Operation) Claims(rule Rule) []pathlock.Claim {
	return Union(o.NodeClaims(), o.DestClaims(rule))
}

// Union returns the claims of both sets, in order, each once.
func Union(a, b []pathlock.Claim) []pathlock.Claim {
	if len(a) == 0 {
		return b
	}
	all := slices.Clone(a)
	for _, c := range b {
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}

// NodeClaims returns what the operation locks in the tree of Node.
func (o Operation) NodeClaims() []pathlock.Claim {
	switch o.Kind {
	case Rename, Move, Delete, Slot:
		return []pathlock.Claim{pathlock.X(o.Node)}
	case Copy:
		if o.Snapshot {
			return nil
		}
		return []pathlock.Claim{pathlock.S(o.Node)}
	case Edit:
		return []pathlock.Claim{pathlock.IX(o.Node)}
	case Read:
		return []pathlock.Claim{pathlock.S(o.Node)}
	case Gate:
		return []pathlock.Claim{pathlock.X(pathlock.Root())}
	default:
		return nil
	}
}

// DestClaims returns what the operation locks in the tree of Dest, for the node that it puts there.
func (o Operation) DestClaims(rule Rule) []pathlock.Claim {
	parent := o.Dest
	switch o.Kind {
	case Insert, Copy, Move:
	case Rename:
		parent = o.Node.Parent()
	default:
		return nil
	}
	if rule == NameSlot {
		if slot, err := parent.Child(o.NewName()); err == nil {
			return []pathlock.Claim{pathlock.X(slot)}
		}
	}
	return []pathlock.Claim{pathlock.X(parent)}
}

// NewName returns the name that the node will have, "" if it is not known.
func (o Operation) NewName() string {
	if o.Kind == Move && o.Name == "" {
		return o.Node.Base()
	}
	return o.Name
}
