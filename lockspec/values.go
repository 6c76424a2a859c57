package lockspec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
)

// Values are one request's values for the sources of a spec.
type Values struct {
	spec  Spec
	parts []boundPart
}

// boundPart is a part of a spec with a request's values for it. A part whose node is a list becomes
// one boundPart for each node.
type boundPart struct {
	*part
	values
}

// Read gets the values of a request, in the order of [Spec.Sources].
//
// The function get returns the value of a source, or the values of one that is [Source.IsEach], and
// none if the request lacks it. A null counts as lacking. get may return [ErrNull] for a null,
// because [Source.OrTop] treats it differently. Read wraps other errors of get with the source's
// name.
//
// The error is one of:
//   - an [*InvalidError] for a value that is missing or makes no sense
//   - an error of get
//   - one that matches [ErrSpec] for a spec that makes no sense, or needs a parameter that the
//     route lacks
func (s Spec) Read(get func(Source) (values []string, err error)) (Values, error) {
	if err := s.Check(); err != nil {
		return Values{}, err
	}
	parts := make([]boundPart, 0, len(s.parts))
	for i := range s.parts {
		p := &s.parts[i]
		v, nodes, err := p.read(get)
		if err != nil {
			return Values{}, err
		}
		for _, v.node = range nodes {
			parts = append(parts, boundPart{p, v})
		}
	}
	return Values{s, parts}, nil
}

// getter is what [Spec.Read] is given.
type getter func(Source) (values []string, err error)

// value is what a request has for one source.
type value struct {
	text string
	ok   bool
	null bool
}

// values is what a request has for the sources of one part.
type values struct {
	node, dest, tree, name value
	// placed says that the destination is known without a look-up: it is place, the top of a tree
	// or what [Source.Path] has.
	placed bool
	place  pathlock.Path
}

// read gets the values of a part, and checks the name. nodes are the values of its node, which v
// leaves out.
func (p *part) read(get getter) (v values, nodes []value, err error) {
	if nodes, err = p.node.readAll(get, !p.node.optional); err != nil {
		return values{}, nil, err
	}
	v, err = p.readOthers(get)
	return v, nodes, err
}

// readOthers gets the values of a part but for its node.
func (p *part) readOthers(get getter) (v values, err error) {
	if v.dest, err = p.dest.read(get, !p.dest.optional && !p.dest.top && !p.dest.path); err != nil {
		return values{}, err
	}
	if p.dest.path && !v.dest.ok && (v.dest.null || !p.dest.optional) {
		v.dest = value{ok: true} // the top
	}
	switch {
	case p.dest.isPlace() && v.dest.ok:
		// Slashes stand between the names, and at either end or not.
		names := strings.TrimSuffix(strings.TrimPrefix(v.dest.text, "/"), "/")
		if v.place, err = pathlock.ParsePath("/" + names); err != nil {
			return values{}, &InvalidError{Field: p.dest.name, Reason: err.Error(), Err: err}
		}
		v.placed, v.dest = true, value{}
	case p.dest.top && !p.dest.path:
		if v.dest.ok && slices.Contains(noParent, v.dest.text) {
			v.dest = value{null: true}
		}
		v.placed = !v.dest.ok && (v.dest.null || !p.dest.optional)
	}
	if p.dest.topOf != nil {
		if v.tree, err = p.dest.topOf.read(get, v.placed); err != nil {
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

// noParent are the ids that mean the top where [Source.OrTop] allows it.
var noParent = []string{"", "0", "00000000-0000-0000-0000-000000000000"}

// read gets the value of a source that is not a list. The zero source has none.
func (s *Source) read(get getter, needed bool) (value, error) {
	if s.isZero() {
		return value{}, nil
	}
	all, err := s.readAll(get, needed)
	if err != nil {
		return value{}, err
	}
	return all[0], nil
}

// readAll gets the values of a source, changed by [Source.Map]. If there are none, as for the zero
// source, it returns a value that is not ok.
func (s *Source) readAll(get getter, needed bool) ([]value, error) {
	if s.isZero() {
		return []value{{}}, nil
	}
	texts, err := s.values(get)
	switch null := errors.Is(err, ErrNull); {
	case err != nil && !null:
		return nil, s.explain(err)
	case len(texts) == 0 && needed && s.from == FromParam:
		return nil, fmt.Errorf("%w: the route has no parameter %q", ErrSpec, s.name)
	case len(texts) == 0 && needed:
		return nil, &InvalidError{Field: s.Name(), Reason: "is missing"}
	case len(texts) == 0:
		return []value{{null: null}}, nil
	case len(texts) > maxEach:
		return nil, &InvalidError{Field: s.Name(), Reason: fmt.Sprintf("has %d values, at most %d are allowed", len(texts), maxEach)}
	case len(texts) > 1 && !s.each:
		return nil, &InvalidError{Field: s.Name(), Reason: "has several values"}
	}
	all := make([]value, len(texts))
	for i, text := range texts {
		if s.mapped != nil {
			text = s.mapped(text)
		}
		all[i] = value{text: text, ok: true}
	}
	return all, nil
}

// explain adds the source to an error of get or resolve.
func (s *Source) explain(err error) error {
	switch {
	case errors.Is(err, ErrInvalid):
		return err
	case s.from == fromConst && errors.Is(err, pathlock.ErrInvalidID): // a mistake of the program's, not of the client's
		return fmt.Errorf("lockspec: %s is not an id of the kind %q: %s", s, s.kind, err.Error())
	case errors.Is(err, pathlock.ErrInvalidID):
		return &InvalidError{Field: s.name, Reason: err.Error(), Err: err}
	default:
		return fmt.Errorf("lockspec: %s: %w", s, err)
	}
}

// values gets the source's values. A constant does not depend on the request.
func (s *Source) values(get getter) ([]string, error) {
	if s.from == fromConst {
		return []string{s.name}, nil
	}
	texts, err := get(*s)
	if err != nil {
		return nil, err
	}
	return s.split(texts), nil
}

// The reasons why a spec cannot be bound to a request, besides the resolver's.
var (
	// ErrInvalid: the request lacks a value, or one of its values makes no sense. The error is an
	// [*InvalidError].
	ErrInvalid = pathlock.FailureInvalid.New("lockspec: invalid request")
	// ErrWouldCycle: a move into the node's own subtree. The message names both paths.
	ErrWouldCycle = pathlock.FailureWouldCycle.New("lockspec: move into the node's own subtree")
	// ErrNull is what the function given to [Spec.Read] returns for a null.
	ErrNull = errors.New("lockspec: null")
	// ErrSpec: the program's spec makes no sense. No request is at fault.
	ErrSpec = errors.New("lockspec: invalid spec")
)

// InvalidError says what is wrong with a request. It matches [ErrInvalid].
type InvalidError struct {
	// Field is the name of the value's [Source]. It is "" if the request as a whole is wrong, such
	// as malformed JSON.
	Field string
	// Reason says what is wrong, for the sender of the request.
	Reason string
	// Err is a further error that this one matches, such as [pathlock.ErrInvalidID], or nil.
	Err error
}

// Error implements error.
func (e *InvalidError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("%v: %s", ErrInvalid, e.Reason)
	}
	return fmt.Sprintf("%v: %s: %s", ErrInvalid, e.Field, e.Reason)
}

// Unwrap returns [ErrInvalid] and, if there is one, Err.
func (e *InvalidError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrInvalid}
	}
	return []error{ErrInvalid, e.Err}
}

// nameReason returns the part of a [pathlock.Path.Child] error that helps the sender of the name,
// who does not know of the path.
func nameReason(err error) string {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		if errs := several.Unwrap(); len(errs) > 1 {
			return errs[len(errs)-1].Error()
		}
	}
	return err.Error()
}
