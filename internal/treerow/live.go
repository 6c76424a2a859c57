package treerow

import "fmt"

// Live is the condition that a deletion mark, given as SQL, means a live row. It is never NULL.
func (d Dialect) Live(column string, kind Kind) string {
	null := column + " IS NULL"
	switch {
	case kind == Bool && d == Postgres:
		return column + " IS NOT TRUE"
	case d == SQLite && kind != Text:
		// In SQLite, any column can hold any value, except that one of affinity TEXT holds no
		// number.
		return fmt.Sprintf("(%s OR %s = 0 OR %s = '')", null, column, column)
	case kind == Number, kind == Bool, kind == Bits && d == MySQL:
		return fmt.Sprintf("(%s OR %s = 0)", null, column)
	case kind == Text:
		return fmt.Sprintf("(%s OR %s = '')", null, column)
	default:
		return null
	}
}
