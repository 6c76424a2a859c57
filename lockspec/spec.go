package lockspec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
)

// Spec says what a route locks, and where in a request that is written. It is
// an immutable value: its methods return changed copies. The zero Spec says
// nothing and is refused; a route that needs no lock says [None].
//
// Where an argument is optional and a request lacks it (see [Source.Optional]),
// the part that needs it falls away: of an operation without its node, the
// whole operation; the constructors say what else.
type Spec struct {
	parts []part
	note  string
	// exempt is the reason of a None.
	exempt string
	// err is the first thing that the program got wrong.
	err error
}

// part is one operation of a spec, with the sources of its arguments.
type part struct {
	kind OperationKind
	// node is the existing node that the operation is about: of an insert there
	// is none. Of a gate it is any node of the tree, or the project's id if
	// there is a namespace.
	node Source
	dest Source
	name Source
	// namespace is that of the tree which a name gate is the gate of.
	namespace string
	rule      Rule
	snapshot  bool
	// asserted is what Spec.Asserted says of the part.
	asserted bool
}

// Insert creates a node below parent. It locks the name's slot, or the whole
// parent where the spec has no name or the request lacks it. At most one name
// may be given. Where a request may want a node at the top of a tree, the parent
// says [Source.OrTop].
func Insert(parent Source, name ...Source) Spec {
	return specOf(part{kind: OpInsert, dest: parent}, name)
}

// Rename gives node a new name. It locks the node and the new name's slot; the
// node and its parent where the spec has no name; the node alone where the name
// is optional and the request lacks it: nothing is renamed then. At most one
// name may be given.
//
// Renaming a tree's root is refused with an [*InvalidError].
func Rename(node Source, newName ...Source) Spec {
	return specOf(part{kind: OpRename, node: node}, newName)
}

// Move puts node below dest, under a new name or its own. It locks the node and
// the slot of its name there. Where dest is optional and the request lacks it,
// the node stays where it is, so that one route can rename, move, or do both at
// once. At most one name may be given.
//
// A move into the node's own subtree is refused with a [*CycleError], and
// moving a tree's root with an [*InvalidError], before any lock is taken.
func Move(node, dest Source, newName ...Source) Spec {
	return specOf(part{kind: OpMove, node: node, dest: dest}, newName)
}

// Copy copies the subtree of node to below dest. It keeps the subtree from
// changing and locks the copy's name slot, or the whole dest where the spec has
// no name or the request lacks it. Where dest is optional and the request lacks
// it, the copy goes beside the original. At most one name may be given.
//
// A copy into the node's own subtree is allowed: what is copied is the subtree
// as it was before.
func Copy(node, dest Source, name ...Source) Spec {
	return specOf(part{kind: OpCopy, node: node, dest: dest}, name)
}

// Delete removes the subtree of node. Deleting a tree's root is refused with an
// [*InvalidError].
func Delete(node Source) Spec { return specOf(part{kind: OpDelete, node: node}, nil) }

// Edit changes attributes of node that no path depends on, by a statement that
// does not rest on what was read before, or that checks the row's version. It
// keeps the node from being renamed, moved, deleted, copied or exported
// meanwhile. Two edits of one node run at once: a handler that reads, thinks and
// writes back without a version wants [Slot].
func Edit(node Source) Spec { return specOf(part{kind: OpEdit, node: node}, nil) }

// Read reads or exports the subtree of node as it is at one instant, however
// many statements that takes.
func Read(node Source) Spec { return specOf(part{kind: OpRead, node: node}, nil) }

// Slot locks the place that the resolver answers for node, exclusively, with
// all that is below. The node need not exist: the resolver of a recycled item
// answers its old place.
func Slot(node Source) Spec { return specOf(part{kind: OpSlot, node: node}, nil) }

// Gate locks the whole tree of the node that tree is the id of: a plan, where
// the resolver of tree's kind understands the ids of plans.
func Gate(tree Source) Spec { return specOf(part{kind: OpGate, node: tree}, nil) }

// Names locks the names of a project's trees: the gate of the tree that
// [pathlock.NewTree] makes of the namespace and the project's id. The id is
// taken as it is, without a resolver.
func Names(namespace string, project Source) Spec {
	s := specOf(part{kind: OpGate, node: project, namespace: namespace}, nil)
	if _, err := pathlock.NewTree(namespace, "0"); err != nil && s.err == nil {
		s.err = fmt.Errorf("%w: names: %w", ErrSpec, err)
	}
	return s
}

// None says that a route which may well change something needs no lock, and
// why: "touches no live path".
func None(reason string) Spec {
	if strings.TrimSpace(reason) == "" {
		return Spec{err: fmt.Errorf("%w: none without a reason", ErrSpec)}
	}
	return Spec{exempt: reason}
}

// All does what each of the specs does. [Spec.Bind] says in which order the
// locks are taken: gates are taken in the order in which they are listed here.
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
	if p.kind != OpInsert {
		wrong(p.node.check())
	}
	if p.kind == OpInsert || p.kind == OpMove || p.kind == OpCopy {
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
	if p.node.top || p.name.top {
		wrong(fmt.Errorf("OrTop is for the parent of an insert and the destination of a move or a copy"))
	}
	s.parts = []part{p}
	return s
}

// ParentExclusive returns s by the coarser [ParentExclusive] rule.
func (s Spec) ParentExclusive() Spec {
	s.parts = slices.Clone(s.parts)
	for i := range s.parts {
		s.parts[i].rule = ParentExclusive
	}
	return s
}

// SnapshotSource returns s, which has to be a [Copy], for a handler that reads
// the whole source in one statement or one snapshot: the copy is of the tree as
// it was at one instant, and waits for nobody there. Two such copies into each
// other's source, run at once, may each miss what the other creates.
func (s Spec) SnapshotSource() Spec {
	s.parts = slices.Clone(s.parts)
	copies := 0
	for i := range s.parts {
		if s.parts[i].kind == OpCopy {
			s.parts[i].snapshot = true
			copies++
		}
	}
	if copies == 0 && s.err == nil {
		s.err = fmt.Errorf("%w: a snapshot source of something that is not a copy", ErrSpec)
	}
	return s
}

// Asserted returns s for a route whose handler relies on the assertion of its database transaction:
// whatever it writes to the nodes that the spec names is asserted there, as package gormplugin
// does. A middleware then resolves the ids of a request once, and again only if the request had to
// wait for a lock. That saves one query for each id.
//
// The trade-off: the handler may begin while a node is elsewhere. If a node moves between the look
// and the lock, the middleware does not start over. The plugin takes the locks that are missing, or
// fails with [pathlock.ErrPathChanged]. So two kinds of handlers must not say it: those that write
// by raw SQL without gormplugin.Assert, and those that rely on what they read under the lock.
//
// A [Read] cannot be asserted, since it writes nothing. Of [All], either each spec says it or the
// whole: All(a.Asserted(), b) is not asserted.
func (s Spec) Asserted() Spec {
	s.parts = slices.Clone(s.parts)
	for i := range s.parts {
		if s.parts[i].kind == OpRead && s.err == nil {
			s.err = fmt.Errorf("%w: a read writes nothing that could be asserted", ErrSpec)
		}
		s.parts[i].asserted = true
	}
	return s
}

// IsAsserted reports whether all that the spec does is [Spec.Asserted].
func (s Spec) IsAsserted() bool {
	return len(s.parts) > 0 && !slices.ContainsFunc(s.parts, func(p part) bool { return !p.asserted })
}

// Note returns s with a note that people who wait see: what the lock is for.
// Without one it is the operations' names.
func (s Spec) Note(note string) Spec {
	s.note = note
	return s
}

// Exempt returns the reason why the route needs no lock, if the spec is [None].
func (s Spec) Exempt() (reason string, ok bool) { return s.exempt, s.exempt != "" }

// Check says what the program got wrong when it wrote the spec: the zero Spec,
// a source without a name, sources in a body that would have to be JSON and a
// form at once. The error matches [ErrSpec].
func (s Spec) Check() error {
	switch {
	case s.err != nil:
		return s.err
	case len(s.parts) == 0 && s.exempt == "":
		return fmt.Errorf("%w: it says nothing; a route that needs no lock says None", ErrSpec)
	case len(s.note) > pathlock.MaxNoteBytes:
		return fmt.Errorf("%w: the note is %d bytes long, at most %d are allowed", ErrSpec, len(s.note), pathlock.MaxNoteBytes)
	case s.looksIn(FromJSON) && s.looksIn(FromForm):
		return fmt.Errorf("%w: a body is either JSON or a form, and the spec has sources of both", ErrSpec)
	}
	return nil
}

// looksIn reports whether the spec has a source in a part of the request.
func (s Spec) looksIn(from From) bool {
	for i := range s.parts {
		p := &s.parts[i]
		if p.node.from == from || p.dest.from == from || p.name.from == from || p.dest.topOf != nil && p.dest.topOf.from == from {
			return true
		}
	}
	return false
}

// Sources returns where the spec finds its values, in the order of the constructors' arguments.
// They show beforehand whether the body is needed. What [Source.OrTop] was given stands behind its
// source.
func (s Spec) Sources() []Source {
	var sources []Source
	for _, p := range s.parts {
		for _, src := range []*Source{&p.node, &p.dest, p.dest.topOf, &p.name} {
			if src != nil && !src.IsZero() {
				sources = append(sources, *src)
			}
		}
	}
	return sources
}

// noteOrKinds returns the note of the spec's requests.
func (s Spec) noteOrKinds() string {
	if s.note != "" {
		return s.note
	}
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
