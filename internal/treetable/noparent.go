package treetable

import (
	"reflect"
	"strings"
)

// NilUUID is the UUID of zeros, as text, and PlainNilUUID the same as some programs write it.
const (
	NilUUID      = "00000000-0000-0000-0000-000000000000"
	PlainNilUUID = "00000000000000000000000000000000"
)

// MostZeros is the most zero bytes that mean no parent. No key is longer.
const MostZeros = 64

// IsNoParent reports whether a value of a parent column means that there is no parent. It accepts
// numbers, texts, and slices and arrays of bytes, of any Go type. Bytes may come as a text, and a
// text as bytes, as from a driver, but without the padding of PostgreSQL's CHAR(n).
func IsNoParent(value any) bool {
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.String:
		return isZeroText(v.String())
	case reflect.Slice:
		return isZeroText(string(v.Bytes()))
	default:
		return v.IsZero()
	}
}

// isZeroText reports whether a text, or a byte string, is a zero value.
func isZeroText(s string) bool {
	return s == NilUUID || s == PlainNilUUID || len(s) <= MostZeros && strings.Trim(s, "\x00") == ""
}
