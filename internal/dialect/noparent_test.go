package dialect_test

import (
	"testing"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

func TestKindOf(t *testing.T) {
	for typ, want := range map[string]dialect.ColumnKind{
		"BIGINT": dialect.Number, "bigint(20) unsigned": dialect.Number, "UNSIGNED BIGINT": dialect.Number, "INT8": dialect.Number,
		"numeric": dialect.Number, "DECIMAL": dialect.Number,
		"VARCHAR": dialect.Text, "char(36)": dialect.Text, "bpchar": dialect.Text, "character varying": dialect.Text, "longtext": dialect.Text, "enum('a','uuid')": dialect.Text,
		"uuid": dialect.UUID, "UUID": dialect.UUID,
		"BINARY": dialect.Bytes, "varbinary(16)": dialect.Bytes, "bytea": dialect.Bytes, "BLOB": dialect.Bytes,
		"boolean": dialect.Bool, "BOOL": dialect.Bool, "bit(1)": dialect.Bits,
		"timestamp without time zone": dialect.Time, "DATETIME": dialect.Time, "TIMESTAMPTZ": dialect.Time,
		"json": dialect.Other, "": dialect.Other, "interval": dialect.Other,
	} {
		if kind := dialect.KindOf(typ); kind != want {
			t.Errorf("KindOf(%q) is %d, want %d", typ, kind, want)
		}
	}
}
