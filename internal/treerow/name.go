package treerow

import (
	"errors"
	"reflect"

	"github.com/pathlock-go/pathlock"
)

// ErrNoName is matched by the error for a name column that is NULL, or holds something else than
// text.
var ErrNoName = errors.New("name is no text")

// Name returns the name in a value of a name column. The error says why no path can have the name.
// It matches [pathlock.ErrInvalidPath] for a text, which Name returns all the same, and [ErrNoName]
// for anything else.
func Name(value any) (string, error) {
	v := deref(value)
	var name string
	switch {
	case v.Kind() == reflect.String:
		name = v.String()
	case isBytes(v) && !v.IsNil():
		name = string(v.Bytes())
	default:
		return "", ErrNoName
	}
	_, err := pathlock.Root().Child(name)
	return name, err
}
