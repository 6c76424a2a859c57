package treeschema

import (
	"reflect"
	"testing"
)

func TestDefinitions(t *testing.T) {
	for _, c := range []struct {
		statement string
		entries   [][]string
		rest      []string
	}{
		{"CREATE INDEX i ON t (a, b)", [][]string{{"a"}, {"b"}}, []string{}},
		{"CREATE INDEX i ON t(a COLLATE NOCASE DESC,b)WHERE c IS NULL", [][]string{{"a", "COLLATE", "NOCASE", "DESC"}, {"b"}}, []string{"WHERE", "c", "IS", "NULL"}},
		{"CREATE INDEX i ON t (coalesce(a, ')'), \"b,\"\"c\")", [][]string{{"coalesce", "(a, ')')"}, {`"b,""c"`}}, []string{}},
		{"CREATE TABLE [a(b] (`c` TEXT DEFAULT ('(''') /* , */, d INT -- )\n, e)", [][]string{{"`c`", "TEXT", "DEFAULT", "('(''')"}, {"d", "INT"}, {"e"}}, []string{}},
		{"CREATE TABLE t (a INT AS (CASE /* ) */ WHEN b THEN 1 -- )\n END) VIRTUAL)", [][]string{{"a", "INT", "AS", "(CASE /* ) */ WHEN b THEN 1 -- )\n END)", "VIRTUAL"}}, []string{}},
		{"CREATE TABLE t (a TEXT DEFAULT 'unended", [][]string{{"a", "TEXT", "DEFAULT", "'unended"}}, []string{}},
		{"CREATE TABLE t /* unended", nil, nil},
		{"", nil, nil},
	} {
		entries, rest := definitions(c.statement)
		if !reflect.DeepEqual(entries, c.entries) || !reflect.DeepEqual(rest, c.rest) {
			t.Errorf("%s: %q and %q, want %q and %q", c.statement, entries, rest, c.entries, c.rest)
		}
	}
}

func TestBare(t *testing.T) {
	for token, want := range map[string]string{`a`: "a", `"a""b"`: `a"b`, "`a`": "a", "[a b]": "a b", `"`: `"`, "": ""} {
		if got := bare(token); got != want {
			t.Errorf("%s: %q, want %q", token, got, want)
		}
	}
}
