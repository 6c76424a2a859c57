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
// values that can be compared, as numbers, texts and arrays of bytes of any Go type. Bytes may come
// as a text; a text comes without the padding of PostgreSQL's CHAR(n).
func IsNoParent(value any) bool {
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.String:
		s := v.String()
		return s == NilUUID || s == PlainNilUUID || len(s) <= MostZeros && strings.Trim(s, "\x00") == ""
	default:
		return v.IsZero()
	}
}
