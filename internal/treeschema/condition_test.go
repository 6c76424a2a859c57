package treeschema

import "testing"

// What the databases make of the conditions of indexes, and of generated columns, is known. What is
// not known covers nothing.
func TestConditions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		condition string
		want      rows
		unknown   bool
	}{
		{condition: `"parent" IS NULL AND "deleted" IS NULL`, want: rows{live: true, top: true}},
		{condition: "(((parent IS NULL) OR (parent = 0)) AND (deleted IS NULL))", want: rows{live: true, top: true}},
		{condition: "((parent IS NULL) OR ((parent)::text = ANY ((ARRAY[''::character varying, '0-0 and 0'::character varying])::text[])))", want: rows{top: true}},
		{condition: "deleted IS NULL AND parent IS NOT NULL", want: rows{live: true, below: true}},
		{condition: "parent IS NULL OR parent = 0 OR parent BETWEEN x'' AND x'00'", want: rows{top: true}},
		{condition: "(gone = 0) -- and so on", want: rows{live: true}},
		{condition: "deleted IS NOT NULL", unknown: true},
		{condition: "parent IS NULL OR parent = 0 AND deleted IS NULL", unknown: true},
		{condition: "deleted IS NULL AND note = 'x and deleted is null'", unknown: true},
	} {
		k := checker{
			table:     Table{Parent: "parent", Marks: []Mark{{Column: "deleted", Live: "NULL"}, {Column: "gone", Live: "FALSE"}}},
			catalogue: &catalogue{columns: map[string]Column{"parent": {}, "deleted": {}, "gone": {}, "note": {}}},
		}
		var of rows
		if known := k.restrict(&of, normal(c.condition)); known == c.unknown || known && of != c.want {
			t.Errorf("%s: %+v, known: %t", c.condition, of, known)
		}
	}
	for expression, want := range map[string][3]string{
		"if((`deleted` is null),1,NULL)":                                      {"(deleted is null)", "1", "true"},
		"CASE WHEN (deleted IS NULL) THEN 1 ELSE NULL::integer END":           {"(deleted is null)", "1", "true"},
		"(CASE WHEN deleted IS NULL THEN path END)":                           {"deleted is null", "path", "true"},
		"if(`parent` is null or `parent` in (\\'\\',\\'0, 0\\'),`tree`,NULL)": {"parent is null or parent in ('','0, 0')", "tree", "true"},
		"if(`deleted` is null,1,0)":                                           {"", "", "false"},
		"if(deleted is null, 1, null) + 1":                                    {"", "", "false"},
		"concat(deleted, 1, null)":                                            {"", "", "false"},
	} {
		condition, value, ok := guarded(expression)
		if condition != want[0] || value != want[1] || ok != (want[2] == "true") {
			t.Errorf("%s: %q, %q, %t", expression, condition, value, ok)
		}
	}
}
