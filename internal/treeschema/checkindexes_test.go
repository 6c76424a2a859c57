package treeschema

import (
	"testing"

	"github.com/pathlock-go/pathlock/internal/treetable"
)

// A condition is recognised as databases respell it, and in any other grouping, which holds for
// more rows. Nothing else is.
func TestSame(t *testing.T) {
	t.Parallel()
	c := checker{
		table:     Model{Table: treetable.Table{Parent: "parent"}, Marks: []Mark{{Column: "gone", Live: "FALSE", OrNull: true}, {Column: "kind", When: "'old one'", OrNull: true}}},
		catalogue: &catalogue{columns: map[string]Column{"parent": {}, "gone": {}, "kind": {Nullable: true}}},
	}
	quote := func(name string) string { return `"` + name + `"` }
	const zeros = "('', '0-0 and 0')"
	ours := `(parent IS NULL OR parent IN ` + zeros + `)` + c.table.live(" AND ", quote)
	for theirs, want := range map[string]bool{
		ours: true,
		"(((parent IS NULL) OR ((parent)::text = ANY ((ARRAY[''::character varying, '0-0 and 0'::character varying])::text[]))) AND ((gone IS NULL) OR (gone = false)) AND ((kind IS NULL) OR ((kind)::text <> 'old one'::text)))": true,
		"parent is null or parent in (_latin1\\'\\', _utf8mb4\\'0-0 and 0\\') and /* live */ gone = 0 -- and so on\n and (kind is null or kind <> 'old one')":                                                                      true,
		"(parent is null or parent in ('', '0-0 and 0')) and gone = 0 and kind <> 'old one'":                                                                                                                                       false, // NULL is live, too
		"(parent is null or parent in ('', '0-0 and 0')) and gone = 0 and (kind is null or kind <> 'oldone')":                                                                                                                      false,
		"(parent is null or parent in ('', '0-0 and 0')) and gone = 1 and (kind is null or kind <> 'old one')":                                                                                                                     false,
		"(parent is null or parent in ('', '0-0 and 0')) and gone = 0 and (kind is null or kind <> 'old one') and note is not null":                                                                                                false,
		"": false,
	} {
		if got := c.same(theirs, ours); got != want {
			t.Errorf("%s: known: %t", theirs, got)
		}
	}
	// NULL is in no live row, and may be allowed.
	c.table.Marks = []Mark{{Column: "gone", Live: "0"}}
	c.columns["gone"] = Column{Nullable: true}
	if !c.same("(gone IS NULL OR gone = 0)", c.table.live("", quote)) {
		t.Error("a condition that holds for more rows is not known")
	}
	for theirs, want := range map[string]bool{
		"(id <= X'0000')": true, "(`id` <= 0x0000)": true, "id <= x'00'": false,
	} {
		if got := c.same(theirs, "id <= x'0000'"); got != want {
			t.Errorf("%s: known: %t", theirs, got)
		}
	}
}
