package dialect

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pathlock-go/pathlock/internal/treetable"
)

// rowSQL is how a database writes the zero values by which a row has no parent, or is live.
type rowSQL struct {
	// bool is set where a boolean compares with no number, and bits where bits compare with one.
	bool, bits bool
	// bytes is a literal of bytes, given in hexadecimal.
	bytes string
}

// Live is the condition that a deletion mark, given as SQL, means a live row: NULL or a zero value
// or, if when is given, all but this literal. Any time marks a deleted row, even the zero time,
// since GORM asks for NULL alone there. The condition is never NULL.
func (d *Dialect) Live(column string, kind ColumnKind, when string) string {
	null := column + " IS NULL"
	switch {
	case when != "":
		return fmt.Sprintf("(%s OR %s <> %s)", null, column, when)
	case kind == Bool && d.row.bool:
		return column + " IS NOT TRUE"
	case d.AnyType && kind != Text:
		return fmt.Sprintf("(%s OR %s IN (0, '', '0'))", null, column)
	case kind == Number, kind == Bool, kind == Bits && d.row.bits:
		return fmt.Sprintf("(%s OR %s = 0)", null, column)
	case kind == Text:
		return fmt.Sprintf("(%s OR %s IN ('', '0'))", null, column)
	default:
		return null
	}
}

// MarkLiteral is the value that a deletion mark has in deleted rows, or a parent column in rows at
// the top, as SQL. It refuses texts that databases do not quote alike.
func MarkLiteral(when string, number bool) (string, error) {
	if n, err := strconv.ParseInt(when, 10, 64); number && err == nil {
		return strconv.FormatInt(n, 10), nil
	}
	if when == "" || number || strings.ContainsAny(when, "'\"`\\?@\x00") {
		return "", fmt.Errorf("%q cannot be compared with the column: give a whole number or, for a column of texts, a text without quotes", when)
	}
	return "'" + when + "'", nil
}

// NoParentSQL is the condition that a parent column, given as SQL, means that there is no parent,
// as [treetable.IsNoParent] says of a value. An index over the column can answer it, and it is
// never NULL.
func (d *Dialect) NoParentSQL(column string, kind ColumnKind) string {
	return "(" + strings.Join(d.noParents(column, kind, d.AnyType), " OR ") + ")"
}

// NoParentSQLOfKind is [Dialect.NoParentSQL] for a column that holds values of one kind, whatever
// its type allows.
func (d *Dialect) NoParentSQLOfKind(column string, kind ColumnKind) string {
	return "(" + strings.Join(d.noParents(column, kind, d.AnyType && kind != Number && kind != Text), " OR ") + ")"
}

// noParents are the alternatives, of which at most one holds.
func (d *Dialect) noParents(column string, kind ColumnKind, anyType bool) []string {
	conditions := []string{column + " IS NULL"}
	switch {
	case anyType:
		if kind != Text {
			conditions = append(conditions, column+" = 0")
		}
		conditions = append(conditions, column+" IN "+zeroTexts, fmt.Sprintf("%s BETWEEN x'' AND %s", column, d.zeros()))
	case kind == Number:
		conditions = append(conditions, column+" = 0")
	case kind == Text:
		conditions = append(conditions, column+" IN "+zeroTexts)
	case kind == UUID:
		conditions = append(conditions, fmt.Sprintf("%s = '%s'", column, treetable.NilUUID))
	case kind == Bytes:
		// In the order of bytes, strings of zeros precede all others.
		conditions = append(conditions, column+" <= "+d.zeros())
	}
	return conditions
}

// zeroTexts are the texts that mean no parent, as an SQL list.
const zeroTexts = "('', '" + treetable.NilUUID + "', '" + treetable.PlainNilUUID + "')"

// zeros is the greatest string of zero bytes that means no parent, as a literal.
func (d *Dialect) zeros() string {
	return fmt.Sprintf(d.row.bytes, strings.Repeat("00", treetable.MostZeros))
}

// ColumnKind says what a column holds, as far as zero values differ.
type ColumnKind uint8

// The kinds of columns.
const (
	// Other has no zero value but NULL.
	Other ColumnKind = iota
	Number
	Text
	UUID
	Bytes
	Bool
	Bits
	Time
)

// kinds are the parts of type names that say what a column holds. The first match counts.
var kinds = []struct {
	part string
	kind ColumnKind
}{
	{"uuid", UUID}, {"uniqueidentifier", UUID},
	{"enum", Text},
	{"bool", Bool}, {"bit", Bits},
	{"interval", Other},
	{"int", Number}, {"serial", Number},
	{"char", Text}, {"text", Text}, {"clob", Text}, {"string", Text}, {"name", Text},
	{"binary", Bytes}, {"blob", Bytes}, {"bytea", Bytes},
	{"date", Time}, {"time", Time},
	{"dec", Number}, {"num", Number}, {"float", Number}, {"double", Number}, {"real", Number},
}

// KindOf returns the kind of a column with a type, as the database's catalogue or its driver writes
// it: "bigint(20) unsigned", "CHAR(36)", "bpchar", "BINARY".
func KindOf(typ string) ColumnKind {
	typ, _, _ = strings.Cut(strings.ToLower(typ), "(") // an enum's values name no kind
	for _, k := range kinds {
		if strings.Contains(typ, k.part) {
			return k.kind
		}
	}
	return Other
}
