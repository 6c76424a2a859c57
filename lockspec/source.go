package lockspec

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/pathlock-go/pathlock/internal/operation"
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
	// FromFunc is what a function of the program finds: see [Source.Extract].
	FromFunc
	// fromConst is not a part of the request: the spec has the value.
	fromConst
)

var fromNames = [...]string{
	0: "no", FromParam: "param", FromQuery: "query", FromHeader: "header", FromJSON: "json",
	FromForm: "form", FromFunc: "func", fromConst: "const",
}

// Source says where in a request the id of a node, or a name, is. It is an immutable value. The
// zero Source is none.
type Source struct {
	from     From
	name     string
	kind     string
	optional bool
	each     bool
	// path is set by Path.
	path bool
	// separator is what Each was given.
	separator []string
	extract   func(r *http.Request, param func(name string) string) (value string, ok bool, err error)
	// mapped is what Map was given.
	mapped func(string) string
	// top is set by OrTop. topOf is OrTop's argument, nil if it had none.
	top   bool
	topOf *Source
	// wrong is the mistake in the call of a method.
	wrong error
}

// Param is the parameter called name of the route's path.
func Param(name string) Source { return Source{from: FromParam, name: name} }

// Query is the field called name of the query string. The handler must not look for it in the body
// as well, as gin's ShouldBind and net/http's FormValue do: a client can put another value there.
func Query(name string) Source { return Source{from: FromQuery, name: name} }

// Header is the header field called name.
func Header(name string) Source { return Source{from: FromHeader, name: name} }

// JSON is a field of the JSON body. Names of nested objects and fields are joined by dots:
// JSON("target.parent_id"). [JSONValues] says how it is read.
func JSON(field string) Source { return Source{from: FromJSON, name: field} }

// Form is the field called name of a form body.
func Form(name string) Source { return Source{from: FromForm, name: name} }

// Const is the same value for every request.
func Const(value string) Source { return Source{from: fromConst, name: value} }

// Func is what extract finds. The name is for messages. Besides the request, extract gets a
// function that returns the route's parameters by name, because some routers do not keep them in
// the request.
//
// It returns false if the request lacks the value. It returns an [*InvalidError] for a request that
// deserves a 400. It must not read the body, which is for the handler: use [JSON] and [Form]. If
// their value must be combined with something from the session, the resolver of the value's kind
// does that. Under package middleware, GinContext of the request's context returns gin's context,
// also in a resolver.
//
// It is called once per request, before the locks. The request keeps the value when it waits or
// starts over. So extract must not return anything that may change meanwhile, such as the parent of
// a node. Leave that to a resolver, which is asked again under the locks.
func Func(name string, extract func(r *http.Request, param func(name string) string) (value string, ok bool, err error)) Source {
	return Source{from: FromFunc, name: name, extract: extract}
}

// Kind returns s for an id that the resolver registered under kind resolves. The default kind is
// "".
func (s Source) Kind(kind string) Source {
	s.kind = kind
	return s
}

// Path returns s for a node that requests name by the text of its path, such as "a/b/", instead of
// an id.
//
// Without a kind, it is the destination of a [Move] or a [Copy], in the tree of the node, or the
// parent of an [Insert], in the tree that [Source.OrTop] is given. Slashes separate the names, and
// may stand at either end. The path is not looked up before the handler's write, and an
// authorisation sees no node for it.
//
// With a kind, the resolver registered under it finds the node, as with [Source.Kind], such as
// gormplugin's ResolverBy of the path column, which also knows the tree: that of the signed-in
// user, for example.
//
// A destination, or the parent of an [Insert], may be the top, whose text is empty. There, a null
// means the empty text, and so does a missing value unless it is [Source.Optional].
//
//	lockspec.Move(id, lockspec.JSON("dir").Path())          {"dir": "a/b/"}
//	lockspec.Delete(lockspec.Query("path").Path("dir"))     ?path=a/b
func (s Source) Path(kind ...string) Source {
	s.kind, s.path = strings.Join(kind, ""), true
	return s
}

// isPlace reports whether s is a path that nobody looks up: see [Source.Path].
func (s *Source) isPlace() bool { return s.path && s.kind == "" }

// Optional returns s for a value that a request may lack. If it does, the part of the spec that
// needs the value is dropped. Each constructor of a [Spec] says what that means.
func (s Source) Optional() Source {
	s.optional = true
	return s
}

// maxEach is the most values that a request may have for a [Source.Each].
const maxEach = 100

// Each returns s for a list of ids, at most 100: a JSON array, or a field that a query or a form
// repeats. The operation applies to every node of the list, and the request locks all of them or
// none. Each is for the node of a [Move], a [Copy], a [Delete], an [Edit], a [Read] or a [Slot]
// without a new name. A request with an empty list lacks the value.
//
// Each field of a query or a form is one id, whatever characters it has, unless the handler splits
// it, as gin does for a collection_format. Then give Each the separator.
//
//	lockspec.Delete(lockspec.JSON("ids").Each())        {"ids": [3, 5]}
//	lockspec.Delete(lockspec.Query("ids").Each())       ?ids=3&ids=5
//	lockspec.Delete(lockspec.Query("ids").Each(","))    ?ids=3,5, collection_format:"csv"
func (s Source) Each(separator ...string) Source {
	s.each, s.separator = true, separator
	return s
}

// split splits the values of an Each at its separator.
func (s Source) split(texts []string) (parts []string) {
	if len(s.separator) == 0 {
		return texts
	}
	for _, text := range texts {
		parts = append(parts, strings.Split(text, s.separator[0])...)
	}
	return parts
}

// Map returns s for a value that the handler changes before it uses it, such as by
// [strings.TrimSpace]. The spec changes it in the same way, so that both mean the same name or id.
// change is not called for a value that the request lacks. A second Map changes the result of the
// first.
//
// change must return the same result for the same text, and be safe for concurrent use.
func (s Source) Map(change func(string) string) Source {
	before := s.mapped
	s.mapped = change
	if before != nil {
		s.mapped = func(text string) string { return change(before(text)) }
	}
	return s
}

// OrTop returns s for a parent id whose absence, or null, means the top of a tree. Trees without a
// root row need it, and so do clients that send "parent_id": null. An empty id, 0 and the zero UUID
// mean the top as well: package gormplugin treats them as no parent, and a model without pointers
// sends them in answers. OrTop is for the parent of an [Insert] and the destination of a [Move] or
// a [Copy].
//
// The tree is that of the moved or copied node, or that of the node whose id the source tree finds:
// OrTop(lockspec.Param("plan").Kind("plan")). Insert always needs the latter, but reads it only if
// the request has no parent. Only the tree of that node counts. Give ids of trees a kind of their
// own, with a [pathlock.TreeResolver]: without a kind, such an id counts as the id of a node, which
// may be in another tree. If all nodes are in one tree, use a [Const] for its id. If the name is
// not known, an operation at the top locks the whole tree.
//
//	plan := lockspec.Param("plan").Kind("plan")
//	lockspec.Insert(lockspec.JSON("parent_id").OrTop(plan), name)    X(/name) if there is no parent_id
//	lockspec.Move(id, lockspec.JSON("parent_id").OrTop())            X(N), X(/name of N)
//
// With [Source.Optional] as well, a null or an empty id means the top, and a missing value means
// what Optional says. So a route that renames, moves, or does both can move to the top. Only JSON
// has a null: a form or a query uses an empty field instead.
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

// Name returns the name of the parameter or field, or the value of a [Const].
func (s Source) Name() string { return s.name }

// KindName returns the argument of [Source.Kind], "" by default.
func (s Source) KindName() string { return s.kind }

// IsEach reports whether s is for a list: see [Source.Each].
func (s Source) IsEach() bool { return s.each }

// isZero reports whether s is the zero Source.
func (s *Source) isZero() bool { return s.from == 0 }

// Extract calls the function of a [Func]. It returns false for any other source.
func (s Source) Extract(r *http.Request, param func(name string) string) (value string, ok bool, err error) {
	if s.extract == nil {
		return "", false, nil
	}
	return s.extract(r, param)
}

// String returns s for people to read: "json name".
func (s Source) String() string { return fromNames[s.from] + " " + s.name }

// check returns what is wrong with a source, nil if nothing is.
func (s Source) check() error {
	switch {
	case s.isZero():
		return fmt.Errorf("a source is missing")
	case s.name == "" && s.from != fromConst:
		return fmt.Errorf("a %s source has no name", fromNames[s.from])
	case s.from == FromFunc && s.extract == nil:
		return fmt.Errorf("the func source %q has no function", s.name)
	}
	if s.path && s.kind != "" && s.top {
		return fmt.Errorf("%s is a path: its resolver knows the top without OrTop", s)
	}
	if s.each && s.from != FromJSON && s.from != FromQuery && s.from != FromForm {
		return fmt.Errorf("%s is not a list: Each is for JSON, a query or a form", s)
	}
	if len(s.separator) > 0 && (s.from == FromJSON || len(s.separator) > 1 || s.separator[0] == "") {
		return fmt.Errorf("%s has the separators %q: Each takes one, for a query or a form", s, s.separator)
	}
	return s.wrong
}

// checkTop returns what is wrong with OrTop's argument, nil if nothing is. s is the parent or
// destination of an operation.
func (s Source) checkTop(kind operation.Kind) error {
	switch {
	case s.topOf == nil && kind == operation.Insert && (s.top || s.isPlace()):
		return fmt.Errorf("OrTop of %s needs the tree: an id of a kind that pathlock.TreeResolver resolves, "+
			"by Const if there is only one tree", s)
	case s.topOf == nil:
		return nil
	case s.topOf.optional || s.topOf.top:
		return fmt.Errorf("the tree that OrTop of %s is given may itself be missing", s)
	}
	return s.topOf.check()
}
