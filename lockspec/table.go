package lockspec

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Table has the spec of each route. A key such as "PATCH /suites/:id" is the method, a space, and
// the route as the router spells it.
type Table map[string]Spec

// readOnly are the methods that are safe by RFC 9110, section 9.2.1, and by the documents that
// define further ones. CONNECT only opens a tunnel. All other methods may change something.
var readOnly = []string{"GET", "HEAD", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "REPORT", "SEARCH", "QUERY"}

// Check compares the table with the routes that a router serves, in the form of the table's keys.
// It returns an error unless
//
//   - every route whose method may change something is in the table: POST, PUT, PATCH, DELETE, and
//     any other that is not known to be safe
//   - every entry of the table has a route
//   - every spec makes sense by itself ([Spec.Check]) and names only parameters that its route has
//   - no spec of a GET or HEAD needs a value in the body, since handlers do not read that body
func (t Table) Check(routes []string) error {
	problems := map[string][]string{}
	report := func(route, format string, args ...any) {
		problem := route + ": " + fmt.Sprintf(format, args...)
		if !slices.Contains(problems[route], problem) {
			problems[route] = append(problems[route], problem)
		}
	}
	for _, route := range routes {
		method, _, _ := strings.Cut(route, " ")
		if _, ok := t[route]; !ok && !slices.Contains(readOnly, method) {
			report(route, "has no spec; if it needs no lock, say so with None")
		}
	}
	for key, spec := range t {
		if err := spec.Check(); err != nil {
			report(key, "%v", err)
		}
		if !isRoute(key) {
			report(key, "not a method in capitals, one space, and a path that begins with a slash")
			continue
		}
		if !slices.Contains(routes, key) {
			report(key, "there is no such route")
			continue
		}
		method, path, _ := strings.Cut(key, " ")
		params := paramsOf(path)
		for _, src := range spec.Sources() {
			body := src.From() == FromJSON || src.From() == FromForm
			if body && (method == http.MethodGet || method == http.MethodHead) {
				report(key, "the spec needs %s, and the body of a %s means nothing", src, method)
			}
			if src.From() == FromParam && !slices.Contains(params, src.Name()) {
				report(key, "the spec needs the parameter %q, which the route does not have", src.Name())
			}
		}
	}
	if len(problems) == 0 {
		return nil
	}
	var text strings.Builder
	for _, route := range slices.SortedFunc(maps.Keys(problems), byPath) {
		for _, problem := range problems[route] {
			text.WriteString("\n\t" + problem)
		}
	}
	return fmt.Errorf("lockspec: the route table is wrong:%s", &text)
}

// isRoute reports whether a key of a table is one.
func isRoute(key string) bool {
	method, path, _ := strings.Cut(key, " ")
	return method != "" && strings.ToUpper(method) == method && strings.HasPrefix(path, "/") && !strings.Contains(path, " ")
}

// byPath orders routes by their path, then by their method.
func byPath(a, b string) int {
	aMethod, aPath, _ := strings.Cut(a, " ")
	bMethod, bPath, _ := strings.Cut(b, " ")
	return cmp.Or(cmp.Compare(aPath, bPath), cmp.Compare(aMethod, bMethod))
}

// paramsOf returns the parameters' names of a route as gin writes it: /suites/:id and /files/*rest.
func paramsOf(path string) []string {
	var names []string
	for segment := range strings.SplitSeq(path, "/") {
		if i := strings.IndexAny(segment, ":*"); i >= 0 {
			names = append(names, segment[i+1:])
		}
	}
	return names
}
