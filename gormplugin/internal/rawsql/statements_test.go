package rawsql

import (
	_ "embed"
	"strconv"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// dialects know one guarded table.
var dialects = map[string]*Names{
	"mysql":    NewNames(dialect.MySQL.Grammar, "suites"),
	"postgres": NewNames(dialect.PostgreSQL.Grammar, "suites"),
	"sqlite":   NewNames(dialect.SQLite.Grammar, "suites"),
}

// everywhere means all dialects.
const everywhere = "mysql postgres sqlite"

//go:embed testdata/statements.txt
var statements string

// Of each statement, it is known whether it writes the guarded table, ends its transaction, or only
// reads.
func TestStatements(t *testing.T) {
	functions := map[string]func(n *Names, sql string) string{
		"a write to suites":         func(n *Names, sql string) string { word, _ := n.FindWrite(sql); return word },
		"an end of the transaction": func(n *Names, sql string) string { word, _ := EndsTransaction(n.grammar, sql); return word },
		"a text that only reads": func(n *Names, sql string) string {
			return map[bool]string{true: "reads"}[OnlyReads(n.grammar, sql)]
		},
	}
	var is func(n *Names, sql string) string
	for line := range strings.SplitSeq(statements, "\n") {
		if title, ok := strings.CutPrefix(line, "# "); ok {
			is = functions[title]
		}
		fields := strings.SplitN(line, " | ", 3)
		if len(fields) < 3 {
			continue
		}
		sql := fields[2]
		if strings.HasPrefix(sql, `"`) {
			var err error
			sql, err = strconv.Unquote(sql)
			testerr.MustBe(t, line, err, nil)
		}
		want := strings.TrimPrefix(fields[1], "-")
		for in := range strings.FieldsSeq(strings.Replace(fields[0], "all", everywhere, 1)) {
			if got := is(dialects[in], sql); got != want {
				t.Errorf("%s: got %q", line, got)
			}
		}
	}
}

// Which spellings are one table is the database's business: in doubt, they are.
func TestFindWrite_Names(t *testing.T) {
	for _, c := range []struct {
		in, name, sql string
		want          bool
	}{
		{"mysql", "Nodes", "DELETE FROM nODES", true},
		{"sqlite", "knöten", "DELETE FROM KNÖTEN", true},
		{"mysql", "items", "DELETE FROM İtems", true},
		{"mysql", "kinds", "DELETE FROM \u212ainds", true},
		{"mysql", "nodes", "DELETE FROM node", false},
		{"mysql", "sui`tes", "DELETE FROM `sui``tes`", true},
		{"postgres", `sui"tes`, `DELETE FROM "sui""tes"`, true},
		{"sqlite", "sui'tes", `DELETE FROM 'sui''tes'`, true},
		{"sqlite", `sui"t es`, `DELETE FROM [sui"t es]`, true},
		{"mysql", "a``b", "DELETE FROM my.`a````b`", true},
	} {
		n := NewNames(dialects[c.in].grammar, "others", c.name)
		if statement, table := n.FindWrite(c.sql); (statement != "") != c.want || c.want && table != c.name {
			t.Errorf("%q: got %q, %q", c.sql, statement, table)
		}
		if name, found := n.FirstIn(c.sql[len("DELETE FROM "):]); found != c.want || found && name != c.name {
			t.Errorf("%q: the first name is %q, %t", c.sql, name, found)
		}
	}
}

func TestFirstIn(t *testing.T) {
	for _, c := range []struct {
		in, expression string
		want           bool
	}{
		{everywhere, "suites AS s", true},
		{everywhere, `others, main."Suites"`, true},
		{everywhere, "'suites'", true},
		{"postgres", `U&"\0073uites"`, true},
		{everywhere, `suites2, "test-suites"`, false},
	} {
		for in := range strings.FieldsSeq(c.in) {
			if name, found := dialects[in].FirstIn(c.expression); found != c.want {
				t.Errorf("%s: %s: got %q, %t", in, c.expression, name, found)
			}
		}
	}
}

// A text that begins with a word that writes, and names the table, is refused whatever else it has.
func FuzzFindWrite(f *testing.F) {
	beginnings := []string{"UPDATE", "insert", "DELETE\n", "REPLACE", "MERGE", "TRUNCATE", "CALL", "/* */DELETE", "--\nUPDATE", "(DELETE", "\ufeffDELETE", "; DELETE"}
	for i, text := range []string{"", "a\\'b", "/*!5 x */", "$a$ $a$", `U&"x`, "[", "E'\\", "1e", "`x__temp`(", "SELECT", "*/ SELECT"} {
		f.Add(uint8(i), text, text)
	}
	f.Fuzz(func(t *testing.T, beginning uint8, before, after string) {
		sql := beginnings[int(beginning)%len(beginnings)] + " " + before + " suites " + after
		for in, g := range dialects {
			if statement, table := g.FindWrite(sql); statement == "" || table != "suites" {
				t.Errorf("%s: %q: got %q, %q", in, sql, statement, table)
			}
			g.FindWrite(before)
			g.FirstIn(before)
			EndsTransaction(g.grammar, before)
			OnlyReads(g.grammar, before)
		}
	})
}
