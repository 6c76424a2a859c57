package lockspec

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/operation"
)

// Binding says what one request must lock.
type Binding struct {
	// Requests has one request for each tree, in the order in which to acquire them. It is empty if
	// there is nothing to lock.
	Requests []pathlock.Request
	// Nodes are the nodes on which the requests are based, each once. After the grant, resolve them
	// again and compare: if a node moved meanwhile, its locks are in the wrong place.
	Nodes []Node
	// Moves are the nodes to which the request gives a known path. A node may already have that
	// path.
	Moves []Moved
}

// Moved is a node to which the request gives a path in the same tree, by a rename or a move.
type Moved struct {
	Node Node
	To   pathlock.Path
}

// Node is an id of a request, and where its node is.
type Node struct {
	// Kind is the argument of [Source.Kind].
	Kind string
	ID   string
	pathlock.Location
}

// Bind returns what the request must lock. It resolves all nodes at once, each kind and id once:
// resolve gets the kinds and ids, and returns where the nodes are, in the same order. Its errors
// are those of [pathlock.Resolver].
//
// The claims of one tree are one request, and thus one atomic acquisition. Several trees are locked
// one after the other, in one order: first those of [Names], then all others, each by namespace and
// id. So crossing moves between two plans lock both plans in the same order. Requests cannot
// deadlock across trees if the namespaces of [Names] contain nothing but names.
//
// A move or a copy between two trees locks the node in one tree and the new place in the other. The
// handler decides whether such an operation makes sense.
//
// The error is one of:
//   - an [*InvalidError] for a value that makes no sense where its node is. It also matches
//     [pathlock.ErrInvalidID] if resolve calls an id invalid, unless that is a [Const].
//   - one that matches [ErrWouldCycle] for a move into the node's own subtree
//   - an error of resolve
func (v Values) Bind(resolve func(nodes []Node) []pathlock.Resolution) (Binding, error) {
	var b binder
	for i := range v.parts {
		b.addNodes(v.parts[i].part, &v.parts[i].values)
	}
	if err := b.locateAll(resolve); err != nil {
		return Binding{}, err
	}
	for i := range v.parts {
		if err := b.add(v.parts[i].part, &v.parts[i].values); err != nil {
			return Binding{}, err
		}
	}
	return b.binding(cmp.Or(v.spec.note, v.spec.Operation())), nil
}

// binder collects what the parts of a spec lock in each tree.
type binder struct {
	nodes []Node
	found []pathlock.Resolution // of each node
	moves []Moved
	// requests has one for each tree.
	requests []pathlock.Request
	// names are the namespaces of Names.
	names []string
}

// addNodes adds the nodes whose ids a part of the request has, each once.
func (b *binder) addNodes(p *part, v *values) {
	if p.isDropped(v) || p.kind == operation.Gate && p.namespace != "" {
		return
	}
	if v.node.ok {
		b.addNode(&p.node, v.node)
	}
	if v.dest.ok {
		b.addNode(&p.dest, v.dest)
	}
	if v.placed && p.dest.topOf != nil {
		b.addNode(p.dest.topOf, v.tree)
	}
}

func (b *binder) addNode(src *Source, id value) {
	if n := (Node{Kind: src.kind, ID: id.text}); !slices.Contains(b.nodes, n) {
		b.nodes = append(b.nodes, n)
	}
}

// locateAll finds all nodes.
func (b *binder) locateAll(resolve func(nodes []Node) []pathlock.Resolution) error {
	if len(b.nodes) == 0 {
		return nil
	}
	b.found = resolve(b.nodes)
	if len(b.found) != len(b.nodes) {
		return fmt.Errorf("lockspec: the resolver was asked for %d nodes, and returned %d answers", len(b.nodes), len(b.found))
	}
	for i, f := range b.found {
		b.nodes[i].Location = f.Location
	}
	return nil
}

// add plans one part.
func (b *binder) add(p *part, v *values) error {
	if p.kind == operation.Gate {
		return b.addGate(p, v.node)
	}
	if p.isDropped(v) {
		return nil
	}
	op := operation.Operation{Kind: p.kind, Name: v.name.text, Snapshot: p.snapshot}
	var node, dest pathlock.Location
	if v.node.ok {
		var err error
		if node, err = b.locate(&p.node, v.node.text); err != nil {
			return err
		}
		op.Node, op.Leaf = node.Path, node.Leaf
		// A rename, and a move or copy without a destination, stays under the same parent.
		dest = pathlock.Location{Tree: node.Tree, Path: node.Path.Parent()}
	}
	if v.dest.ok {
		var err error
		if dest, err = b.locate(&p.dest, v.dest.text); err != nil {
			return err
		}
	}
	if v.placed {
		dest.Path = v.place
		if p.dest.topOf != nil {
			at, err := b.locate(p.dest.topOf, v.tree.text)
			if err != nil {
				return err
			}
			dest.Tree = at.Tree
		}
	}
	op.Dest = dest.Path
	if p.kind == operation.Rename && !p.name.isZero() && !v.name.ok {
		op.Kind = operation.Slot
	}
	if err := p.refuse(op, node.Tree, dest.Tree, v); err != nil {
		return err
	}
	b.noteMove(p, v, op, node, dest)
	b.claim(node.Tree, op.NodeClaims())
	b.claim(dest.Tree, op.DestClaims(p.rule))
	return nil
}

// noteMove records the new path of a part's node, if it is known. The node may already have that
// path.
func (b *binder) noteMove(p *part, v *values, op operation.Operation, node, dest pathlock.Location) {
	if op.Kind != operation.Rename && op.Kind != operation.Move || node.Tree != dest.Tree {
		return
	}
	to, err := op.Dest.Child(op.NewName())
	if err != nil {
		return
	}
	b.moves = append(b.moves, Moved{Node{Kind: p.node.KindName(), ID: v.node.text, Location: node}, to})
}

// isDropped reports whether the request lacks the value that the part needs.
func (p *part) isDropped(v *values) bool {
	return !p.node.isZero() && !v.node.ok || p.kind == operation.Insert && !v.dest.ok && !v.placed
}

// refuse returns why an operation is impossible, whatever the tree looks like under the locks. The
// handler refuses what depends on the tree.
func (p *part) refuse(op operation.Operation, from, to pathlock.Tree, v *values) error {
	switch {
	case op.DisplacesRoot():
		return &InvalidError{Field: p.node.Name(), Reason: fmt.Sprintf("the root of a tree cannot be the target of a %s", op.Kind)}
	case op.Node.IsRoot() && op.Kind == operation.Copy && !v.dest.ok && !v.placed:
		return &InvalidError{Field: p.node.Name(), Reason: "there is no place beside the root of a tree for a copy of it"}
	case from == to && op.MovesIntoItself():
		return fmt.Errorf("%w: %s to below %s", ErrWouldCycle, op.Node, op.Dest)
	}
	if name := op.NewName(); name != "" {
		if _, err := op.Dest.Child(name); err != nil {
			field := &p.name
			if !v.name.ok {
				field = &p.node
			}
			return &InvalidError{Field: field.Name(), Reason: nameReason(err), Err: err}
		}
	}
	return nil
}

// addGate plans the gate of a tree, which may be that of a project's names.
func (b *binder) addGate(p *part, v value) error {
	if !v.ok {
		return nil
	}
	var tree pathlock.Tree
	if p.namespace != "" {
		var err error
		if tree, err = pathlock.NewTree(p.namespace, v.text); err != nil {
			return &InvalidError{Field: p.node.Name(), Reason: err.Error(), Err: err}
		}
		b.names = append(b.names, p.namespace)
	} else {
		at, err := b.locate(&p.node, v.text)
		if err != nil {
			return err
		}
		tree = at.Tree
	}
	b.requestIn(tree).Gate = true
	return nil
}

// locate returns where the node with an id is.
func (b *binder) locate(src *Source, id string) (pathlock.Location, error) {
	i := slices.IndexFunc(b.nodes, func(n Node) bool { return n.Kind == src.kind && n.ID == id })
	if err := b.found[i].Err; err != nil {
		return pathlock.Location{}, src.explain(err)
	}
	return b.found[i].Location, nil
}

// requestIn returns what is locked in a tree.
func (b *binder) requestIn(tree pathlock.Tree) *pathlock.Request {
	i := slices.IndexFunc(b.requests, func(r pathlock.Request) bool { return r.Tree == tree })
	if i < 0 {
		i = len(b.requests)
		b.requests = append(b.requests, pathlock.Request{Tree: tree})
	}
	return &b.requests[i]
}

// claim adds claims in a tree.
func (b *binder) claim(tree pathlock.Tree, claims []pathlock.Claim) {
	if len(claims) == 0 {
		return
	}
	r := b.requestIn(tree)
	r.Claims = operation.Union(r.Claims, claims)
}

// binding returns what was planned, with the trees in order.
func (b *binder) binding(note string) Binding {
	// Whether a spec takes a gate or a node must not matter: another takes both trees by nodes.
	rank := func(r pathlock.Request) int {
		if slices.Contains(b.names, r.Tree.Namespace()) {
			return 0
		}
		return 1
	}
	slices.SortFunc(b.requests, func(x, y pathlock.Request) int {
		return cmp.Or(
			cmp.Compare(rank(x), rank(y)),
			cmp.Compare(x.Tree.Namespace(), y.Tree.Namespace()),
			cmp.Compare(x.Tree.ID(), y.Tree.ID()),
		)
	})
	for i := range b.requests {
		r := &b.requests[i]
		if r.Note = note; r.Gate {
			r.Claims = nil // they add nothing to the gate
		}
	}
	return Binding{Requests: b.requests, Nodes: b.nodes, Moves: b.moves}
}
