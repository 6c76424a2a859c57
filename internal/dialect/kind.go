package dialect

import "strings"

// Kind says what a column holds, as far as zero values differ.
type Kind uint8

// The kinds of columns.
const (
	// Other has no zero value but NULL.
	Other Kind = iota
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
	kind Kind
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
func KindOf(typ string) Kind {
	typ = strings.ToLower(typ)
	for _, k := range kinds {
		if strings.Contains(typ, k.part) {
			return k.kind
		}
	}
	return Other
}
