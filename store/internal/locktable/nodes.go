package locktable

import (
	"strings"

	"github.com/pathlock-go/pathlock"
)

// nodes are the records of one table. They form a tree. The root and the gate are always there, and
// any other node while it has a use.
type nodes struct {
	gate, root node
	// unused are spare records, linked by sibling.
	unused *node
	spare  int
}

// maxUnused bounds the spare records of a table. It is enough for a few deep paths.
const maxUnused = 64

// below returns the record of a path in the subtree of n, whose own path is at. It makes the
// records that are missing on the way down. prune forgets them if they stay unused.
func (t *nodes) below(n *node, at, path pathlock.Path) *node {
	rest := path.Column()[len(at.Column()):]
	for rest != "" {
		name, more := rest[1:], ""
		if i := strings.IndexByte(name, '/'); i >= 0 {
			name, more = name[:i], name[i:]
		}
		child := n.children.find(name)
		if child == nil {
			child = t.child(n, name)
		}
		n, rest = child, more
	}
	return n
}

// child makes the record of a child.
func (t *nodes) child(parent *node, name string) *node {
	n := t.unused
	if n == nil {
		n = new(node)
	} else {
		t.unused = n.sibling
		t.spare--
	}
	n.parent, n.name, n.sibling = parent, name, nil
	parent.children.add(n)
	parent.uses++
	return n
}

// prune forgets an unused record, and those above it that become unused with it.
func (t *nodes) prune(n *node) {
	for n.uses == 0 && n.parent != nil {
		parent := n.parent
		parent.children.remove(n)
		parent.uses--
		n.parent, n.name, n.sibling = nil, "", nil
		if t.spare < maxUnused {
			n.sibling, t.unused = t.unused, n
			t.spare++
		}
		n = parent
	}
}
