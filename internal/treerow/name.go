package treerow

import (
	"errors"
	"fmt"
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

// Root reports whether a row with this parent and this name is a root row: it has no parent, and
// its name is the empty text.
func Root(parent, name any) bool {
	text, err := Name(name)
	return NoParent(parent) && text == "" && !errors.Is(err, ErrNoName)
}

// Empty is the condition that a name column holds the empty text, the name of a root row, and not a
// text that a collation treats as equal. An index over the column can answer it. It is NULL for
// NULL.
func (d Dialect) Empty(column string) string {
	exact := column
	if d == SQLite {
		exact = "CAST(" + column + " AS BLOB)" // in SQLite, the LENGTH of a text ends at a NUL
	}
	return fmt.Sprintf("(%s = '' AND LENGTH(%s) = 0)", column, exact)
}
