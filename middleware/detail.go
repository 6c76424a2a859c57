package middleware

import (
	"reflect"
	"strings"

	"github.com/pathlock-go/pathlock"
)

// packageNames removes from an error's message what says nothing to the sender of the request.
var packageNames = strings.NewReplacer("pathlock: ", "", "lockspec: ", "", "middleware: ", "", "gormplugin: ", "")

// Detail returns the message of an error of pathlock's packages for people who know the interface
// and not the code: without the names of Go packages, and without what a driver, the network or
// another library said, which may tell of addresses, statements and tables.
func Detail(err error) string { return withoutForeign(err.Error(), err) }

// withoutForeign is [Detail] of a text that err, where it is not nil, is a part of.
func withoutForeign(text string, err error) string {
	for _, said := range foreign(err) {
		text = strings.ReplaceAll(text, ": "+said, "")
	}
	return packageNames.Replace(text)
}

// foreign returns what other packages than pathlock's have said within an error. What only wraps,
// as fmt and errors do, counts as the wrapped error's.
func foreign(err error) []string {
	if err == nil {
		return nil
	}
	if t := packageOf(err); t != "fmt" && t != "errors" && !strings.HasPrefix(t, modulePath) {
		return []string{err.Error()}
	}
	switch e := err.(type) { //nolint:errorlint // This walks the tree itself.
	case interface{ Unwrap() error }:
		return foreign(e.Unwrap())
	case interface{ Unwrap() []error }:
		var all []string
		for _, wrapped := range e.Unwrap() {
			all = append(all, foreign(wrapped)...)
		}
		return all
	default:
		return nil
	}
}

// modulePath is what the import paths of pathlock's packages begin with.
var modulePath = reflect.TypeFor[pathlock.Tree]().PkgPath()

// packageOf returns the package of an error's type.
func packageOf(err error) string {
	t := reflect.TypeOf(err)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath()
}
