// Package testerr checks the errors that tests get, as package testing's own conditions would, in a
// line each.
package testerr

import "errors"

// T is a test, a benchmark, or what has their methods, such as rapid's.
type T interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// Must ends the test if there is an error. Call it on the goroutine of the test.
func Must(t T, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// None fails the test if there is an error, and lets it go on.
func None(t T, err error) {
	if err != nil {
		t.Helper()
		t.Error(err)
	}
}

// Is fails the test unless the error of what was done matches want, and lets it go on. Where want
// is nil, there must be none.
func Is(t T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// MustBe is [Is], and ends the test.
func MustBe(t T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s: %v, want %v", what, err, want)
	}
}

// Of returns the error of a call that returns something else as well.
func Of[V any](_ V, err error) error { return err }
