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

// mostZeros is how many zero bytes are still no parent. No key is longer.
const mostZeros = 64

// NoParent reports whether a value of a parent column says that there is no parent. It takes
// numbers, texts and bytes of any Go type, pointers to them, and arrays of bytes. A text may be
// given as bytes, as drivers do. Cut off the padding of a CHAR(n), which PostgreSQL returns,
// before.
func NoParent(value any) bool {
	v := reflect.ValueOf(value)
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem() // of nil, the invalid value
	}
	switch v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.String:
		return isZeroText(v.String())
	case reflect.Slice:
		return v.Type().Elem().Kind() == reflect.Uint8 && isZeroText(string(v.Bytes()))
	default:
		return v.IsZero()
	}
}

// isZeroText reports whether a text, or a byte string, is a zero value.
func isZeroText(s string) bool {
	return s == NilUUID || s == plainNilUUID || len(s) <= mostZeros && strings.Trim(s, "\x00") == ""
}

// NoParent is the condition that a parent column, given as SQL, says that there is no parent. An
// index over the column can answer it, and it is never NULL.
func (d Dialect) NoParent(column string, kind Kind) string {
	return "(" + strings.Join(d.NoParents(column, kind), " OR ") + ")"
}

// NoParents are the alternatives of [Dialect.NoParent], of which at most one holds. A database that
// looks a row up badly by alternatives can be asked for each.
func (d Dialect) NoParents(column string, kind Kind) []string {
	conditions := []string{column + " IS NULL"}
	switch {
	case d == SQLite:
		// A column of any type can hold any value there, but no number where its affinity is TEXT.
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
		// In the order of bytes, strings of zeros come before all others.
		conditions = append(conditions, column+" <= "+d.zeros())
	}
	return conditions
}

// zeroTexts are the texts that are no parent, as an SQL list.
var zeroTexts = fmt.Sprintf("('', '%s', '%s')", NilUUID, plainNilUUID)

// zeros is the greatest string of zero bytes, as a literal.
func (d Dialect) zeros() string {
	digits := strings.Repeat("00", mostZeros)
	if d == Postgres {
		return `'\x` + digits + `'::bytea`
	}
	return "x'" + digits + "'"
}
