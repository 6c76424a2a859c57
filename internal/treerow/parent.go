package treerow

import (
	"fmt"
	"reflect"
	"strings"
)

// NilUUID is the UUID of zeros, as text.
const NilUUID = "00000000-0000-0000-0000-000000000000"

// plainNilUUID is NilUUID as some programs write it.
var plainNilUUID = strings.ReplaceAll(NilUUID, "-", "")

// mostZeros is the most zero bytes that mean no parent. No key is longer.
const mostZeros = 64

// NoParent reports whether a value of a parent column means that there is no parent. It accepts
// numbers, texts and bytes of any Go type, pointers to them, and arrays of bytes. A text may come
// as bytes, as from a driver, but without the padding of PostgreSQL's CHAR(n).
func NoParent(value any) bool {
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
	return s == NilUUID || s == plainNilUUID || len(s) <= mostZeros && strings.Trim(s, "\x00") == ""
}

// NoParent is the condition that a parent column, given as SQL, means that there is no parent. An
// index over the column can answer it, and it is never NULL.
func (d Dialect) NoParent(column string, kind Kind) string {
	return "(" + strings.Join(d.NoParents(column, kind), " OR ") + ")"
}

// NoParents are the alternatives of [Dialect.NoParent], of which at most one holds. A query per
// alternative helps a database that uses no index for a condition with OR.
func (d Dialect) NoParents(column string, kind Kind) []string {
	conditions := []string{column + " IS NULL"}
	switch {
	case d == SQLite:
		// In SQLite, any column can hold any value, except that one of affinity TEXT holds no
		// number.
		if kind != Text {
			conditions = append(conditions, column+" = 0")
		}
		conditions = append(conditions, column+" IN "+zeroTexts, fmt.Sprintf("%s BETWEEN x'' AND %s", column, d.zeros()))
	case kind == Number:
		conditions = append(conditions, column+" = 0")
	case kind == Text:
		conditions = append(conditions, column+" IN "+zeroTexts)
	case kind == UUID:
		conditions = append(conditions, fmt.Sprintf("%s = '%s'", column, NilUUID))
	case kind == Bytes:
		// In the order of bytes, strings of zeros precede all others.
		conditions = append(conditions, column+" <= "+d.zeros())
	}
	return conditions
}

// zeroTexts are the texts that mean no parent, as an SQL list.
var zeroTexts = fmt.Sprintf("('', '%s', '%s')", NilUUID, plainNilUUID)

// zeros is the greatest string of zero bytes, as a literal.
func (d Dialect) zeros() string {
	digits := strings.Repeat("00", mostZeros)
	if d == Postgres {
		return `'\x` + digits + `'::bytea`
	}
	return "x'" + digits + "'"
}
