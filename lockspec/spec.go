package lockspec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/operation"
)

// Spec says what a route locks, and where in a request the ids and names are. It is an immutable
// value: its methods return changed copies. The zero Spec says nothing and is refused. Use [None]
// for a route that needs no lock.
//
// If a request lacks an optional value (see [Source.Optional]), the part of the spec that needs it
// is dropped. An operation without its node is dropped whole. The constructors say what else
// happens.
type Spec struct {
	parts []part
	note  string
	// exempt is the reason of a None.
	exempt string
	// err is the first mistake in the program's calls.
	err error
}

// part is one operation of a spec, with the sources of its arguments.
type part struct {
	kind operation.Kind
	// node is the existing node of the operation. An insert has none. For a gate it is any node of
	// the tree, or the project's id if there is a namespace.
	node Source
	dest Source
	name Source
	// namespace is that of the tree whose gate is a name gate.
	namespace string
	rule      operation.Rule
	snapshot  bool
	asserted  bool
}

// Insert creates a node below parent. It locks the slot of the name, or the whole parent if the
// spec has no name or the request lacks it. It takes at most one name. Use [Source.OrTop] for the
// parent if requests may create nodes at the top of a tree.
func Insert(parent Source, name ...Source) Spec {
	return specOf(part{kind: operation.Insert, dest: parent}, name)
}

// Rename gives node a new name. It locks the node and the slot of the new name. If the spec has no
// name, it locks the node and its parent. If the name is optional and the request lacks it, nothing
// is renamed, and it locks the node alone. It takes at most one name.
//
// Renaming a tree's root is refused with an [*InvalidError].
func Rename(node Source, newName ...Source) Spec {
	return specOf(part{kind: operation.Rename, node: node}, newName)
}

// Move puts node below dest, under a new name or its own. It locks the node and the slot of its
// name there. If dest is optional and the request lacks it, the node stays where it is. So one
// route can rename, move, or do both at once. It takes at most one name.
//
// A move into the node's own subtree is refused with [ErrWouldCycle], and moving a tree's root with
// an [*InvalidError], before any lock is taken.
func Move(node, dest Source, newName ...Source) Spec {
	return specOf(part{kind: operation.Move, node: node, dest: dest}, newName)
}

// Copy copies the subtree of node to below dest. It keeps the subtree from changing, and locks the
// slot of the copy's name, or the whole dest if the spec has no name or the request lacks it. If
// dest is optional and the request lacks it, the copy goes beside the original. It takes at most
// one name.
//
// A copy into the node's own subtree is allowed: it copies the subtree as it was before.
func Copy(node, dest Source, name ...Source) Spec {
	return specOf(part{kind: operation.Copy, node: node, dest: dest}, name)
}

// Delete removes the subtree of node. Deleting a tree's root is refused with an [*InvalidError].
func Delete(node Source) Spec { return specOf(part{kind: operation.Delete, node: node}, nil) }

// Edit changes attributes of node that no path depends on. Nobody can rename, move, delete, copy or
// export the node meanwhile, but other edits run at once. So the handler's statement must not rely
// on an earlier read, unless it checks the row's version: a handler that reads and writes back
// without a version needs [Slot].
func Edit(node Source) Spec { return specOf(part{kind: operation.Edit, node: node}, nil) }

// Read reads or exports the subtree of node. Whatever the number of statements, they all see it as
// at one instant.
func Read(node Source) Spec { return specOf(part{kind: operation.Read, node: node}, nil) }

// Slot locks the place that the resolver returns for node, exclusively, with everything below. The
// node need not exist: the resolver of a recycled item returns its old place.
func Slot(node Source) Spec { return specOf(part{kind: operation.Slot, node: node}, nil) }

// Gate locks the whole tree of the node whose id the source finds. The id may be a plan's, if the
// resolver of the source's kind understands plan ids.
func Gate(tree Source) Spec { return specOf(part{kind: operation.Gate, node: tree}, nil) }

// Names locks the names of a project's trees: the gate of the tree that [pathlock.NewTree] makes of
// the namespace and the project's id. No resolver sees the id, so another spelling of it, such as a
// UUID in capitals, is another tree. Use [Source.Map] to unify the spellings. Only names may be in
// the namespace: see [Values.Bind].
func Names(namespace string, project Source) Spec {
	s := specOf(part{kind: operation.Gate, node: project, namespace: namespace}, nil)
	if _, err := pathlock.NewTree(namespace, "0"); err != nil && s.err == nil {
		s.err = fmt.Errorf("%w: names: %w", ErrSpec, err)
	}
	return s
}

// None is for a route that needs no lock, although its method may change something. The reason says
// why: "touches no live path".
func None(reason string) Spec {
	if strings.TrimSpace(reason) == "" {
		return Spec{err: fmt.Errorf("%w: none without a reason", ErrSpec)}
	}
	return Spec{exempt: reason}
}

// All combines specs: the route does what each of them says. [Values.Bind] says in which order it
// locks several trees.
func All(specs ...Spec) Spec {
	var all Spec
	var notes, reasons []string
	for _, s := range specs {
		if err := s.Check(); err != nil && all.err == nil {
			all.err = err
		}
		all.parts = append(all.parts, s.parts...)
		if s.note != "" {
			notes = append(notes, s.note)
		}
		if s.exempt != "" {
			reasons = append(reasons, s.exempt)
		}
	}
	all.note = strings.Join(notes, ", ")
	if len(all.parts) == 0 {
		all.exempt = strings.Join(reasons, ", ")
	}
	return all
}

// specOf returns the spec of one part, which takes at most one name.
func specOf(p part, names []Source) Spec {
	s := Spec{}
	wrong := func(err error) {
		if err != nil && s.err == nil {
			s.err = fmt.Errorf("%w: %s: %w", ErrSpec, p.kind, err)
		}
	}
	if p.kind != operation.Insert {
		wrong(p.node.check())
	}
	if p.kind == operation.Insert || p.kind == operation.Move || p.kind == operation.Copy {
		wrong(p.dest.check())
		wrong(p.dest.checkTop(p.kind))
	}
	if len(names) > 1 {
		wrong(fmt.Errorf("%d names given, at most one is possible", len(names)))
	}
	if len(names) > 0 {
		p.name = names[0]
		wrong(p.name.check())
	}
	if p.dest.each || p.name.each || p.dest.topOf != nil && p.dest.topOf.each || p.node.each && !p.takesEach() {
		wrong(fmt.Errorf("Each is only for nodes that are moved, copied, deleted, edited, read or locked as a slot, without a new name"))
	}
	if p.node.top || p.name.top {
		wrong(fmt.Errorf("OrTop is for the parent of an insert and the destination of a move or a copy"))
	}
	if p.name.path || p.node.path && (p.namespace != "" || p.node.isPlace()) {
		wrong(fmt.Errorf("Path is for nodes and the places where they go"))
	}
	s.parts = []part{p}
	return s
}

// takesEach reports whether the part can be done to several nodes.
func (p part) takesEach() bool {
	switch p.kind {
	case operation.Move, operation.Copy, operation.Delete, operation.Edit, operation.Read, operation.Slot:
		return p.name.isZero()
	default:
		return false
	}
}

// eachPart returns s with its parts changed.
func (s Spec) eachPart(change func(*part)) Spec {
	s.parts = slices.Clone(s.parts)
	for i := range s.parts {
		change(&s.parts[i])
	}
	return s
}

// ParentExclusive returns s by the coarser parent-exclusive rule.
func (s Spec) ParentExclusive() Spec {
	return s.eachPart(func(p *part) { p.rule = operation.ParentExclusive })
}

// SnapshotSource returns s, which has to be a [Copy], for a handler that reads the whole source in
// one statement or one snapshot. The copy is of the tree as it was at one instant, and waits for
// nobody at its source. If two such copies run at once, each into the other's source, each may miss
// what the other creates. The same applies to three or more in a ring.
func (s Spec) SnapshotSource() Spec {
	if s.err == nil && !slices.ContainsFunc(s.parts, func(p part) bool { return p.kind == operation.Copy }) {
		s.err = fmt.Errorf("%w: only a copy can have a snapshot source", ErrSpec)
	}
	return s.eachPart(func(p *part) { p.snapshot = p.kind == operation.Copy })
}

// Asserted returns s for a route whose handler relies on the assertion of its database transaction.
// That transaction asserts everything that the handler writes to the nodes of the spec, as package
// gormplugin does. Then the middleware resolves the ids of a request only once, which saves one
// query for each id. It resolves them again if the request had to wait for a lock, if a hold
// follows a node that moves, or if its Authorize function is set.
//
// The trade-off: the handler may begin while a node is elsewhere. If a node moves between the look
// and the lock, the middleware does not start over. The plugin takes the locks that are missing, or
// fails with [pathlock.ErrPathChanged]. Two kinds of handlers must not use it: those that write by
// raw SQL without gormplugin.Assert, and those that rely on what they read under the lock.
//
// While the lock store is away, [pathlock.Degrade] lets requests of such routes go on without it.
//
// A [Read] cannot be asserted, since it writes nothing. An [All] is asserted if each of its specs
// is, or if the whole is: All(a.Asserted(), b) is not.
func (s Spec) Asserted() Spec {
	if s.err == nil && slices.ContainsFunc(s.parts, func(p part) bool { return p.kind == operation.Read }) {
		s.err = fmt.Errorf("%w: a read writes nothing that could be asserted", ErrSpec)
	}
	return s.eachPart(func(p *part) { p.asserted = true })
}

// IsAsserted reports whether everything that the spec does is [Spec.Asserted].
func (s Spec) IsAsserted() bool {
	return len(s.parts) > 0 && !slices.ContainsFunc(s.parts, func(p part) bool { return !p.asserted })
}

// Note returns s with a note that says what the lock is for, to those who wait for it. By default
// it is the names of the operations.
func (s Spec) Note(note string) Spec {
	s.note = note
	return s
}

// Exempt returns the reason why the route needs no lock, if the spec is [None].
func (s Spec) Exempt() (reason string, ok bool) { return s.exempt, s.exempt != "" }

// Check returns the first mistake in the program's spec, nil if there is none. Mistakes are, among
// others, the zero Spec, a source without a name, and sources in both a JSON and a form body. The
// error matches [ErrSpec].
func (s Spec) Check() error {
	switch {
	case s.err != nil:
		return s.err
	case len(s.parts) == 0 && s.exempt == "":
		return fmt.Errorf("%w: it is empty; use None for a route that needs no lock", ErrSpec)
	case len(s.note) > pathlock.MaxNoteBytes:
		return fmt.Errorf("%w: the note is %d bytes long, at most %d are allowed", ErrSpec, len(s.note), pathlock.MaxNoteBytes)
	case s.looksIn(FromJSON) && s.looksIn(FromForm):
		return fmt.Errorf("%w: a body is either JSON or a form, and the spec has sources of both", ErrSpec)
	}
	return nil
}

// looksIn reports whether the spec has a source in a part of the request.
func (s Spec) looksIn(from From) bool {
	return slices.ContainsFunc(s.Sources(), func(src Source) bool { return src.from == from })
}

// Sources returns where the spec finds its values, in the order of the constructors' arguments. The
// argument of a [Source.OrTop] follows its source.
func (s Spec) Sources() []Source {
	var sources []Source
	for _, p := range s.parts {
		for _, src := range []*Source{&p.node, &p.dest, p.dest.topOf, &p.name} {
			if src != nil && !src.isZero() {
				sources = append(sources, *src)
			}
		}
	}
	return sources
}

// Operation returns the names of the spec's operations, each once, in their order: "rename, move".
// It is "" for a [None].
func (s Spec) Operation() string {
	var kinds []string
	for _, p := range s.parts {
		kind := p.kind.String()
		if p.namespace != "" {
			kind = "names"
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return strings.Join(kinds, ", ")
}
