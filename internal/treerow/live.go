package treerow

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Live reports whether the value of a deletion mark, as a driver returns it, is that of a live row.
func Live(mark any) bool {
	v := reflect.ValueOf(mark)
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		return true
	}
	if _, isTime := v.Interface().(time.Time); isTime {
		return false
	}
	if v.Kind() == reflect.Slice {
		return v.Type().Elem().Kind() == reflect.Uint8 && strings.Trim(string(v.Bytes()), "\x00") == ""
	}
	return v.IsZero()
}

// Live is the condition that a deletion mark, given as SQL, is that of a live row. It is never
// NULL.
func (d Dialect) Live(column string, kind Kind) string {
	null := column + " IS NULL"
	switch {
	case kind == Bool && d == Postgres:
		return column + " IS NOT TRUE"
	case d == SQLite && kind != Text:
		// A column of any type can hold any value there, but no number where its affinity is TEXT.
		return fmt.Sprintf("(%s OR %s = 0 OR %s = '')", null, column, column)
	case kind == Number, kind == Bool, kind == Bits && d == MySQL:
		return fmt.Sprintf("(%s OR %s = 0)", null, column)
	case kind == Text:
		return fmt.Sprintf("(%s OR %s = '')", null, column)
	default:
		return null
	}
}
