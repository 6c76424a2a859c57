package middleware

import (
	"reflect"
	"strings"

	"github.com/pathlock-go/pathlock"
)

// packageNames removes the names of Go packages from an error's message.
var packageNames = strings.NewReplacer("pathlock: ", "", "lockspec: ", "", "middleware: ", "", "gormplugin: ", "")

// Detail returns the message of an error of pathlock's packages for people who know the interface
// and not the code. It leaves out the names of Go packages, and what a driver, the network or
// another library said, which may reveal addresses, statements and tables.
func Detail(err error) string { return withoutForeign(err.Error(), err) }

// withoutForeign is [Detail] of a text. err is the error in the text, or nil.
func withoutForeign(text string, err error) string {
	for _, said := range foreign(err) {
		text = strings.ReplaceAll(text, ": "+said, "")
	}
	return packageNames.Replace(text)
}

// foreign returns the texts within an error that are not of pathlock's packages. The wrappers of
// fmt and errors do not count.
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

// modulePath begins the import paths of pathlock's packages.
var modulePath = reflect.TypeFor[pathlock.Tree]().PkgPath()

// packageOf returns the package of an error's type.
func packageOf(err error) string {
	t := reflect.TypeOf(err)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath()
}
