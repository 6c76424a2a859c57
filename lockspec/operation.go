package lockspec

import (
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock"
)

// OperationKind is what an [Operation] does to a tree.
type OperationKind uint8

// The kinds of operations. A leaf is a node too: the same operations create, move and delete a case
// in a suite and the suite itself.
const (
	// OpInsert creates a node called Name below Dest.
	OpInsert OperationKind = iota + 1
	// OpRename gives Node the name Name.
	OpRename
	// OpMove puts Node below Dest, under the name Name, or its own if Name is empty.
	OpMove
	// OpCopy copies the subtree of Node to below Dest, under the name Name.
	OpCopy
	// OpDelete removes the subtree of Node.
	OpDelete
	// OpEdit changes attributes of Node that no path depends on.
	OpEdit
	// OpRead reads the subtree of Node at one instant.
	OpRead
	// OpSlot changes what is, or will be, at Node.
	OpSlot
	// OpGate changes the whole tree.
	OpGate
)

var operationNames = [...]string{
	OpInsert: "insert", OpRename: "rename", OpMove: "move", OpCopy: "copy", OpDelete: "delete",
	OpEdit: "edit", OpRead: "read", OpSlot: "slot", OpGate: "gate",
}

// String returns the kind's name in lower case: "insert".
func (k OperationKind) String() string {
	if k == 0 || int(k) >= len(operationNames) {
		return fmt.Sprintf("OperationKind(%d)", uint8(k))
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

// String returns the rule's name: "name-slot" or "parent-exclusive".
func (r Rule) String() string {
	switch r {
	case NameSlot:
		return "name-slot"
	case ParentExclusive:
		return "parent-exclusive"
	default:
		return fmt.Sprintf("Rule(%d)", uint8(r))
	}
}

// Operation is one operation on paths of one tree.
type Operation struct {
	Kind OperationKind
	// Node is the node that is renamed, moved, copied, deleted, edited or read. An insert has none.
	Node pathlock.Path
	// Dest is the node below which an insert, a move or a copy puts something.
	Dest pathlock.Path
	// Name is the new name of an insert, a rename, a move or a copy. It is empty if the name is not
	// known, or if a move keeps it.
	Name string
	// Snapshot says that a copy reads its source at one instant. It need not keep the source from
	// changing until the copy is written.
	Snapshot bool
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
	return union(o.nodeClaims(), o.destClaims(rule))
}

// nodeClaims returns what the operation locks in the tree of Node.
func (o Operation) nodeClaims() []pathlock.Claim {
	switch o.Kind {
	case OpRename, OpMove, OpDelete, OpSlot:
		return []pathlock.Claim{pathlock.X(o.Node)}
	case OpCopy:
		if o.Snapshot {
			return nil
		}
		return []pathlock.Claim{pathlock.S(o.Node)}
	case OpEdit:
		return []pathlock.Claim{pathlock.IX(o.Node)}
	case OpRead:
		return []pathlock.Claim{pathlock.S(o.Node)}
	case OpGate:
		return []pathlock.Claim{pathlock.X(pathlock.Root())}
	default:
		return nil
	}
}

// destClaims returns what the operation locks in the tree of Dest, for the node that it puts there.
func (o Operation) destClaims(rule Rule) []pathlock.Claim {
	parent := o.Dest
	switch o.Kind {
	case OpInsert, OpCopy, OpMove:
	case OpRename:
		parent = o.Node.Parent()
	default:
		return nil
	}
	if rule == NameSlot {
		if slot, err := parent.Child(o.newName()); err == nil {
			return []pathlock.Claim{pathlock.X(slot)}
		}
	}
	return []pathlock.Claim{pathlock.X(parent)}
}

// newName returns the name that the node will have, "" if it is not known.
func (o Operation) newName() string {
	if o.Kind == OpMove && o.Name == "" {
		return o.Node.Base()
	}
	return o.Name
}

// union returns the claims of all sets, in order, each once.
func union(sets ...[]pathlock.Claim) []pathlock.Claim {
	var all []pathlock.Claim
	for _, set := range sets {
		for _, c := range set {
			if !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all
}
