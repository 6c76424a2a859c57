package lockspec

import (
	"fmt"
	"net/http"
)

// From says in which part of a request a [Source] looks.
type From uint8

// The parts of a request.
const (
	// FromParam is a parameter of the route's path, such as :id.
	FromParam From = iota + 1
	// FromQuery is the query string.
	FromQuery
	// FromHeader is the header.
	FromHeader
	// FromJSON is a field of a JSON body.
	FromJSON
	// FromForm is a field of a form body, url-encoded or multipart.
	FromForm
	// FromConst is no part of the request: the spec has the value.
	FromConst
	// FromFunc is whatever a function of the program finds.
	FromFunc
)

var fromNames = [...]string{
	FromParam: "param", FromQuery: "query", FromHeader: "header", FromJSON: "json",
	FromForm: "form", FromConst: "const", FromFunc: "func",
}

// String returns the part's name in lower case: "param", "json".
func (f From) String() string {
	if f == 0 || int(f) >= len(fromNames) {
		return fmt.Sprintf("From(%d)", uint8(f))
	}
	return fromNames[f]
}

// NeedsBody reports whether the request's body has to be read to find the
// value.
func (f From) NeedsBody() bool { return f == FromJSON || f == FromForm }

// Extract finds a value in a request for [Func]. It gets the request and a
// function that returns the route's parameters by name, which are not in the
// request where a router has its own way to keep them.
//
// It returns false if the request lacks the value. An error that is to be
// answered with 400 is an [*InvalidError]. It must leave the body alone, which
// the handler reads: [JSON] and [Form] are for what is in there. Under package
// middleware, its GinContext finds gin's context of the request.
//
// It is called once per request, before the locks, and its value is kept when the request has to
// wait or to start over. So it must not return what may change meanwhile, such as the parent of a
// node: that is for a resolver to find, which is asked again under the locks.
type Extract func(r *http.Request, param func(name string) string) (value string, ok bool, err error)

// Source says where in a request a value is: the id of a node, or a name. It is
// an immutable value. The zero Source is none.
type Source struct {
	from     From
	name     string
	kind     string
	optional bool
	extract  Extract
	// mapped is what Map was given.
	mapped func(string) string
	// top is set by OrTop, and topOf is the id of the tree, if that was given one.
	top   bool
	topOf *Source
	// wrong is what the program got wrong when it called a method.
	wrong error
}

// Param is the parameter called name of the route's path.
func Param(name string) Source { return Source{from: FromParam, name: name} }

// Query is the field called name of the query string.
func Query(name string) Source { return Source{from: FromQuery, name: name} }

// Header is the header field called name.
func Header(name string) Source { return Source{from: FromHeader, name: name} }

// JSON is a field of the JSON body, by the names of the objects and fields on
// the way to it, joined by dots: JSON("target.parent_id"). [JSONFields] says how
// it is read.
func JSON(field string) Source { return Source{from: FromJSON, name: field} }

// Form is the field called name of a form body.
func Form(name string) Source { return Source{from: FromForm, name: name} }

// Const is the same value for every request.
func Const(value string) Source { return Source{from: FromConst, name: value} }

// Func is what extract finds in the request, which it is asked for once per request: see [Extract]
// for what it must not return. The name is for messages.
func Func(name string, extract Extract) Source {
	return Source{from: FromFunc, name: name, extract: extract}
}

// Kind returns s for an id that the resolver registered under kind understands,
// where a program has more than one. Without it, it is the resolver of the kind
// "", the default one.
func (s Source) Kind(kind string) Source {
	s.kind = kind
	return s
}

// Optional returns s for a value that a request may lack. The part of the spec
// that needs it falls away then; each constructor of a [Spec] says what that
// means.
func (s Source) Optional() Source {
	s.optional = true
	return s
}

// Map returns s for a value that the handler changes before it uses it, such as by
// [strings.TrimSpace]: the spec changes it in the same way, so that both mean the same name, or the
// same id. It is not called for a value that the request lacks. Further calls change what the
// earlier ones returned.
//
// The function has to return the same for the same text, and may be called by many at once.
func (s Source) Map(change func(string) string) Source {
	before := s.mapped
	switch {
	case change == nil:
		s.wrong = fmt.Errorf("the %s source %q is mapped by no function", s.from, s.name)
	case before == nil:
		s.mapped = change
	default:
		s.mapped = func(text string) string { return change(before(text)) }
	}
	return s
}

// OrTop returns s for the id of a parent that is null, or missing, where the place is the top of a
// tree: trees without a root row need it, and so do clients that say "parent_id": null. It is for
// the parent of an [Insert] and the destination of a [Move] or a [Copy].
//
// The tree is the one of the node that is moved or copied, or the one that the id is in which the
// source tree finds: OrTop(lockspec.Param("plan").Kind("plan")). Insert always needs the latter;
// where the request has a parent, it is neither needed nor resolved. Of what that id resolves to,
// only the tree counts. An operation whose name is not known locks the whole tree then, which is
// all that is below the top.
//
//	lockspec.Insert(lockspec.JSON("parent_id").OrTop(plan), name)    X(/name) if there is no parent_id
//	lockspec.Move(id, lockspec.JSON("parent_id").OrTop())            X(N), X(/name of N)
//
// With [Source.Optional] as well, null means the top and a value that is missing means what
// Optional says: a route that renames, moves, or does both, can move to the top so. A null needs
// JSON; a form or a query cannot say it.
func (s Source) OrTop(tree ...Source) Source {
	s.top = true
	switch {
	case len(tree) > 1:
		s.wrong = fmt.Errorf("OrTop of %s is given %d trees, at most one is possible", s, len(tree))
	case len(tree) == 1:
		of := tree[0]
		s.topOf = &of
	}
	return s
}

// From returns the part of the request that s looks in.
func (s Source) From() From { return s.from }

// Name returns the name that s was made with: a parameter's or field's, or the
// value of a [Const].
func (s Source) Name() string { return s.name }

// KindName returns what s was given by [Source.Kind], and "" otherwise.
func (s Source) KindName() string { return s.kind }

// IsOptional reports whether a request may lack the value.
func (s Source) IsOptional() bool { return s.optional }

// IsZero reports whether s is no source at all.
func (s Source) IsZero() bool { return s.from == 0 }

// Extract calls the function of a [Func]. It returns false for any other
// source.
func (s Source) Extract(r *http.Request, param func(name string) string) (value string, ok bool, err error) {
	if s.extract == nil {
		return "", false, nil
	}
	return s.extract(r, param)
}

// String returns s for people to read: "json name".
func (s Source) String() string { return s.from.String() + " " + s.name }

// check says what is wrong with a source as the program wrote it.
func (s Source) check() error {
	switch {
	case s.IsZero():
		return fmt.Errorf("a source is missing")
	case s.name == "" && s.from != FromConst:
		return fmt.Errorf("a %s source has no name", s.from)
	case s.from == FromFunc && s.extract == nil:
		return fmt.Errorf("the func source %q has no function", s.name)
	}
	return s.wrong
}

// checkTop says what is wrong with what OrTop was given, where s is the parent or destination of an
// operation.
func (s Source) checkTop(kind OperationKind) error {
	switch {
	case !s.top:
		return nil
	case s.topOf == nil && kind == OpInsert:
		return fmt.Errorf("OrTop of %s has to be given the tree", s)
	case s.topOf == nil:
		return nil
	case s.topOf.optional || s.topOf.top:
		return fmt.Errorf("the tree that OrTop of %s is given can be missing itself", s)
	}
	return s.topOf.check()
}
