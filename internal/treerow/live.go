package treerow

import (
	"fmt"
	"strconv"
	"strings"
)

// Live is the condition that a deletion mark, given as SQL, means a live row: NULL or a zero value
// or, where when is given, all but this literal. It is never NULL.
func (d Dialect) Live(column string, kind Kind, when string) string {
	null := column + " IS NULL"
	switch {
	case when != "":
		return fmt.Sprintf("(%s OR %s <> %s)", null, column, when)
	case kind == Bool && d == Postgres:
		return column + " IS NOT TRUE"
	case d == SQLite && kind != Text:
		// In SQLite, any column can hold any value, except that one of affinity TEXT holds no
		// number.
		return fmt.Sprintf("(%s OR %s IN (0, '', '0'))", null, column)
	case kind == Number, kind == Bool, kind == Bits && d == MySQL:
		return fmt.Sprintf("(%s OR %s = 0)", null, column)
	case kind == Text:
		return fmt.Sprintf("(%s OR %s IN ('', '0'))", null, column)
	default:
		return null
	}
}

// Literal is the value that a deletion mark has in deleted rows, as SQL. It refuses texts that
// databases do not quote alike.
func Literal(when string, number bool) (string, error) {
	if n, err := strconv.ParseInt(when, 10, 64); number && err == nil {
		return strconv.FormatInt(n, 10), nil
	}
	if when == "" || number || strings.ContainsAny(when, "'\"`\\?@\x00") {
		return "", fmt.Errorf("%q cannot be what marks rows as deleted: it is a whole number or, in a column of texts, one without quotes", when)
	}
	return "'" + when + "'", nil
}
