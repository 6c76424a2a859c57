package treerow

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/pathlock-go/pathlock"
)

// ErrNoName is matched where the name column is NULL, or holds something that is no text.
var ErrNoName = errors.New("name is no text")

// Name returns the name that a value of a name column is. The error says why no path can have it.
// It matches [pathlock.ErrInvalidPath] for a text, which is returned all the same, and [ErrNoName]
// for anything else.
func Name(value any) (string, error) {
	v := reflect.ValueOf(value)
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	var name string
	switch {
	case v.Kind() == reflect.String:
		name = v.String()
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 && !v.IsNil():
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

// Empty is the condition that a name column holds the empty text, which is the name of a root row,
// and not one that only a collation holds equal. An index over the column can answer it. It is NULL
// for NULL.
func (d Dialect) Empty(column string) string {
	exact := column
	if d == SQLite {
		exact = "CAST(" + column + " AS BLOB)" // the LENGTH of a text there ends at a NUL
	}
	return fmt.Sprintf("(%s = '' AND LENGTH(%s) = 0)", column, exact)
}
