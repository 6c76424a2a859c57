package lockspec

import (
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
)

// Binding is what one request has to lock.
type Binding struct {
	// Requests has one for each tree, in the order in which to acquire them. It
	// is empty if nothing has to be locked.
	Requests []pathlock.Request
	// Nodes are the nodes that the requests were planned on, each once. They
	// are to be resolved again after the grant, and compared: a node that moved
	// meanwhile has its locks in the wrong place.
	Nodes []Node
	// Moves are those of the nodes that the request gives another path, where that is known.
	Moves []Moved
}

// Moved is a node to which the request gives another path in the same tree, by a rename or a move.
type Moved struct {
	Node Node
	To   pathlock.Path
}

// Node is an id of a request and where it was found.
type Node struct {
	// Kind is what the id's source was given by [Source.Kind].
	Kind string
	ID   string
	pathlock.Location
}

// Get returns the value of a source, and false if the request lacks it. A value that is there and
// null is one that the request lacks; where that makes a difference to [Source.OrTop], Get says so
// with [ErrNull]. [Spec.Bind] passes other errors on, wrapped with the source's name.
type Get func(Source) (value string, ok bool, err error)

// Resolve returns where the node is that an id means to the resolver of a kind.
// Its errors are those of [pathlock.Resolver].
type Resolve func(kind, id string) (pathlock.Location, error)

// Bind returns what the request has to lock whose values get returns and whose
// nodes resolve finds. It gets all values first, in the order of
// [Spec.Sources], and then resolves each kind and id once.
//
// The claims of one tree are in one request, as one indivisible acquisition.
// Several trees are locked one after the other, in an order that does not
// depend on the request: by namespace, and within a namespace by id. Namespaces
// whose gates the spec takes come first, in the order in which it lists them;
// the others follow by name. So crossing moves between two plans lock both in
// the same order, and no two requests can deadlock as long as no two specs of a
// program put two namespaces in opposite orders: list [Names] before [Gate]
// everywhere.
//
// A move or a copy between two trees needs its locks in both: its node's in the
// one, the new place's in the other. Whether such a thing makes sense is for
// the handler to say.
//
// The errors: [*InvalidError] for a value that is missing or cannot be what it
// is meant to be, [*CycleError] for a move into the own subtree, those of get
// and resolve, and one that matches [ErrSpec] for a spec that makes no sense.
// An id that resolve calls invalid gives an InvalidError that matches
// [pathlock.ErrInvalidID] as well.
func (s Spec) Bind(get Get, resolve Resolve) (Binding, error) {
	if err := s.Check(); err != nil {
		return Binding{}, err
	}
	read, err := s.read(get)
	if err != nil {
		return Binding{}, err
	}
	b := plan{resolve: resolve}
	for i, p := range s.parts {
		if err := b.add(p, read[i]); err != nil {
			return Binding{}, err
		}
	}
	return b.binding(s.noteOrKinds()), nil
}

// value is what a request has for one source.
type value struct {
	text string
	ok   bool
	null bool
}

// values is what a request has for the sources of one part.
type values struct {
	node, dest, tree, name value
	// toTop says that the destination is the top of a tree, as [Source.OrTop] has it.
	toTop bool
}

// read gets the values of all parts, in the order of [Spec.Sources].
func (s Spec) read(get Get) ([]values, error) {
	read := make([]values, 0, len(s.parts))
	for _, p := range s.parts {
		v, err := p.read(get)
		if err != nil {
			return nil, err
		}
		read = append(read, v)
	}
	return read, nil
}

// read gets the values of a part and checks those that can be checked by
// themselves.
func (p part) read(get Get) (v values, err error) {
	if v.node, err = p.node.read(get, !p.node.optional); err != nil {
		return values{}, err
	}
	if v.dest, err = p.dest.read(get, !p.dest.optional && !p.dest.top); err != nil {
		return values{}, err
	}
	v.toTop = p.dest.top && !v.dest.ok && (v.dest.null || !p.dest.optional)
	if p.dest.topOf != nil {
		if v.tree, err = p.dest.topOf.read(get, v.toTop); err != nil {
			return values{}, err
		}
	}
	if v.name, err = p.name.read(get, !p.name.optional); err != nil {
		return values{}, err
	}
	if v.name.ok {
		if _, err := pathlock.Root().Child(v.name.text); err != nil {
			return values{}, &InvalidError{Field: p.name.Name(), Reason: nameReason(err), Err: err}
		}
	}
	return v, nil
}

// read gets the value of a source, changed as [Source.Map] says. The zero source has none.
func (s Source) read(get Get, needed bool) (value, error) {
	if s.IsZero() {
		return value{}, nil
	}
	text, ok, err := s.value(get)
	null := errors.Is(err, ErrNull)
	switch {
	case null:
		ok = false
	case err != nil:
		return value{}, s.explain(err)
	case ok && s.mapped != nil:
		text = s.mapped(text)
	}
	if !ok && needed {
		return value{}, &InvalidError{Field: s.Name(), Reason: "is missing"}
	}
	return value{text, ok, null}, nil
}

// explain says which source an error of get or resolve is about.
func (s Source) explain(err error) error {
	switch {
	case errors.Is(err, ErrInvalid):
		return err
	case errors.Is(err, pathlock.ErrInvalidID):
		return &InvalidError{Field: s.name, Reason: err.Error(), Err: err}
	default:
		return fmt.Errorf("lockspec: %s: %w", s, err)
	}
}

// value gets the source's value; a constant is known without the request.
func (s Source) value(get Get) (string, bool, error) {
	if s.from == FromConst {
		return s.name, true, nil
	}
	return get(s)
}
