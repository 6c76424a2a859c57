package treetable

import (
	"errors"
	"reflect"
	"strings"

	"github.com/pathlock-go/pathlock"
)

// ErrNoName is matched by the error for a name column that is NULL, or holds something other than
// text.
var ErrNoName = errors.New("name is not text")

// RowName returns the name in a value of a name column. The error says why no path can have the
// name. It matches [pathlock.ErrInvalidPath] for a text, which RowName returns all the same, and
// [ErrNoName] for anything else.
func RowName(value any) (string, error) {
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

// NilUUID is the UUID of zeros, as text, and PlainNilUUID the same as some programs write it.
const (
	NilUUID      = "00000000-0000-0000-0000-000000000000"
	PlainNilUUID = "00000000000000000000000000000000"
)

// MostZeros is the most zero bytes that mean no parent. No key is longer.
const MostZeros = 64

// IsNoParent reports whether a value of a parent column means that there is no parent. It accepts
// numbers, texts and bytes of any Go type, pointers to them, and arrays of bytes. A text may come
// as bytes, as from a driver, but without the padding of PostgreSQL's CHAR(n).
func IsNoParent(value any) bool {
	switch v := deref(value); v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.String:
		return isZeroText(v.String())
	case reflect.Slice:
		return isBytes(v) && isZeroText(string(v.Bytes()))
	default:
		return v.IsZero()
	}
}

// deref returns what a value points to; for nil, the invalid value.
func deref(value any) reflect.Value {
	v := reflect.ValueOf(value)
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

// isBytes reports whether a value is a slice of bytes.
func isBytes(v reflect.Value) bool {
	return v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8
}

// isZeroText reports whether a text, or a byte string, is a zero value.
func isZeroText(s string) bool {
	return s == NilUUID || s == PlainNilUUID || len(s) <= MostZeros && strings.Trim(s, "\x00") == ""
}
