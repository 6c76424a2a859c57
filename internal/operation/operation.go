// Package operation says what each kind of operation on a tree locks. It knows paths, and neither
// requests nor specs.
package operation

import (
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock"
)

// Kind is what an [Operation] does to a tree.
type Kind uint8

// The kinds of operations. A leaf is a node too: the same operations create, move and delete a case
// in a suite and the suite itself.
const (
	// Insert creates a node called Name below Dest.
	Insert Kind = iota + 1
	// Rename gives Node the name Name.
	Rename
	// Move puts Node below Dest, under the name Name, or its own if Name is empty.
	Move
	// Copy copies the subtree of Node to below Dest, under the name Name.
	Copy
	// Delete removes the subtree of Node.
	Delete
	// Edit changes attributes of Node that no path depends on.
	Edit
	// Read reads the subtree of Node at one instant.
	Read
	// Slot changes the place at Node, whether or not a node is there yet.
	Slot
	// Gate changes the whole tree.
	Gate
)

var operationNames = [...]string{
	Insert: "insert", Rename: "rename", Move: "move", Copy: "copy", Delete: "delete",
	Edit: "edit", Read: "read", Slot: "slot", Gate: "gate",
}

// String returns the kind's name in lower case: "insert".
func (k Kind) String() string {
	if k == 0 || int(k) >= len(operationNames) {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return operationNames[k]
}

// Rule says how much an operation locks around the new name.
type Rule uint8

const (
	// NameSlot locks the new name itself: X on the path that the node will have. If the name is not
	// known, it locks the parent as ParentExclusive does.
	NameSlot Rule = iota
	// ParentExclusive locks the parent of the new name. It is the coarser rule of the literature:
	// exclusive on the target and its parent.
	ParentExclusive
)

// Operation is one operation on paths of one tree.
type Operation struct {
	Kind Kind
	// Node is the node that is renamed, moved, copied, deleted, edited or read. An insert has none.
	Node pathlock.Path
	// Leaf says that nothing is below Node, whatever is below its path.
	Leaf bool
	// Dest is the node below which an insert, a move or a copy puts something.
	Dest pathlock.Path
	// Name is the new name of an insert, a rename, a move or a copy. It is empty if the name is not
	// known, or if a move keeps it.
	Name string
	// Snapshot says that a copy reads its source at one instant. It need not keep the source from
	// changing until the copy is written.
	Snapshot bool
}

// DisplacesRoot reports whether the operation would remove the root from its place, which no
// operation may.
func (o Operation) DisplacesRoot() bool {
	return o.Node.IsRoot() && (o.Kind == Rename || o.Kind == Move || o.Kind == Delete)
}

// MovesIntoItself reports whether the operation, within one tree, would put a node below itself.
func (o Operation) MovesIntoItself() bool {
	return o.Kind == Move && !o.Leaf && o.Node.Contains(o.Dest)
}

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
