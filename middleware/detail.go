package middleware

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/shown"
)

// packageNames removes the names of Go packages from an error's message.
var packageNames = strings.NewReplacer("pathlock: ", "", "lockspec: ", "", "middleware: ", "", "gormplugin: ", "", "idempotency: ", "")

// ClientDetail returns the message of an error of pathlock's packages, for people who know the
// interface but not the code. It leaves out the names of Go packages, and the messages of drivers,
// the network and other libraries, which may reveal addresses, statements and tables. It also
// leaves out another library's wrapping, such as a stack, and the tables and keys that package
// gormplugin names.
func ClientDetail(err error) string {
	err = stating(err)
	return withoutForeign(err.Error(), err)
}

// stating returns the error that states a failure, among errors that are joined or that types of
// other packages wrap.
func stating(err error) error {
	for {
		_, states := err.(interface{ Failure() pathlock.Failure })
		if from := packageOf(err); states || from == "fmt" || strings.HasPrefix(from, modulePath) {
			return err
		}
		i := slices.IndexFunc(wrappedBy(err), func(err error) bool { return pathlock.FailureOf(err) != "" })
		if i < 0 {
			return err
		}
		err = wrappedBy(err)[i]
	}
}

// wrappedBy returns the errors that one wraps itself.
func wrappedBy(err error) []error {
	switch e := err.(type) { //nolint:errorlint // Its callers walk the tree themselves.
	case interface{ Unwrap() error }:
		if wrapped := e.Unwrap(); wrapped != nil {
			return []error{wrapped}
		}
	case interface{ Unwrap() []error }:
		return e.Unwrap()
	}
	return nil
}

// withoutForeign is [ClientDetail] of a text. err is the error in the text, or nil.
func withoutForeign(text string, err error) string {
	all, inside := foreign(err)
	for _, part := range inside {
		text = part.Without(text)
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // one may be in another
	for _, said := range all {
		text = strings.NewReplacer(": "+said, "", " ("+said+")", "", " ["+said+"]", "", said, "").Replace(text)
	}
	return strings.Trim(packageNames.Replace(text), " \n:;,-=")
}

// foreign returns the texts within an error that are not of pathlock's packages, and those that are
// for the log alone. The wrappers of fmt and errors do not count, nor do types that state a failure
// themselves.
func foreign(err error) (all []string, inside []shown.Inside) {
	if err == nil || err.Error() == "" {
		return nil, nil
	}
	if part, ok := err.(shown.Inside); ok { //nolint:errorlint // The tree is walked here.
		return nil, []shown.Inside{part}
	}
	_, states := err.(interface{ Failure() pathlock.Failure })
	if t := packageOf(err); !states && t != "fmt" && t != "errors" && !strings.HasPrefix(t, modulePath) {
		return []string{err.Error()}, nil
	}
	for _, wrapped := range wrappedBy(err) {
		texts, parts := foreign(wrapped)
		all, inside = append(all, texts...), append(inside, parts...)
	}
	return all, inside
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
