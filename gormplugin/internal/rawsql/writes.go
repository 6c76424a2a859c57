// Package rawsql decides whether hand-written SQL may write a guarded table, and whether it ends
// its transaction. It knows words, quotes and comments, but no grammar. SQL that names a guarded
// table counts as a write, unless it is one statement that plainly reads or defines.
//
// It cannot see effects outside of the text: functions that a SELECT calls, procedures, triggers,
// views, prepared statements that are run by name, and SQL that the database itself assembles.
package rawsql

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// Names are the guarded tables' names, without schemas. Letter case does not count, even where it
// does in the database: in doubt, a name is one of them.
type Names struct {
	grammar *dialect.Grammar
	names   []string
	// patterns find the names in a text in lower case, except at the beginning of a longer word.
	patterns []*regexp.Regexp
}

// NewNames returns the names for SQL of the grammar.
func NewNames(grammar *dialect.Grammar, names ...string) *Names {
	n := &Names{grammar: grammar, names: names}
	for _, name := range names {
		// A quote in a quoted name may be doubled.
		pattern := quotes.ReplaceAllString(regexp.QuoteMeta(folded(name)), "$0{1,2}")
		n.patterns = append(n.patterns, regexp.MustCompile(pattern+`(?:[^0-9a-z_-]|--|$)`))
	}
	return n
}

var quotes = regexp.MustCompile("['\"`]")

// SameName reports whether two names count as equal.
func SameName(a, b string) bool { return folded(a) == folded(b) }

// FirstIn returns the first of the names that occurs anywhere in sql, even in a string or a
// comment, but not within a longer word. Dashes are part of words here. The name is "" if sql may
// hide one.
func (n *Names) FirstIn(sql string) (guarded string, found bool) {
	if sql == "" {
		return "", false
	}
	text := folded(strings.ToValidUTF8(sql, " "))
	for i, name := range n.names {
		for _, at := range n.patterns[i].FindAllStringIndex(text, -1) {
			if at[0] == 0 || text[at[0]-1] != '-' && !isWord(text[at[0]-1]) {
				return name, true
			}
		}
	}
	g := n.grammar
	runs := g.Hides.MatchString(text) && slices.ContainsFunc(shapes(g, sql), g.RunsText.MatchString)
	return "", runs || g.Dollars && escapes.MatchString(text)
}

// escapes finds a name, or a text, that is written in escapes.
var escapes = regexp.MustCompile(`\bu&['"]`)

// FindWrite looks for a statement that may write one of the tables: it mentions the table, and
// neither plainly reads nor defines. FindWrite returns its first word; SCRIPT if there are several
// statements, or if it is unclear how to read them; "" if there is no such statement. The table is
// "" if sql hides which one.
func (n *Names) FindWrite(sql string) (statement, table string) {
	table, found := n.FirstIn(sql)
	if !found {
		return "", ""
	}
	_, copiesTo := n.FirstIn(n.grammar.Copies.FindString(sql))
	copies := !copiesTo && n.grammar.Copies.MatchString(sql)
	for _, s := range shapes(n.grammar, sql) {
		one, more, _ := strings.Cut(s, "; ")
		switch {
		case more != "":
			return "SCRIPT", table
		case !reads(one, sql) && !defines(one) && !copies:
			return cmp.Or(firstWord.FindString(one), "SCRIPT"), table
		}
	}
	return "", ""
}

var firstWord = regexp.MustCompile(`[A-Z]\S*`)

// reads reports whether a statement is a SELECT or an EXPLAIN that writes nothing.
func reads(shape, sql string) bool {
	if shows.MatchString(shape) {
		return !analyses.MatchString(sql) || explainsRead.MatchString(shape) && !writes(shape)
	}
	return selects.MatchString(shape) && !into.MatchString(shape) && (!strings.Contains(shape, "WITH ") || !writes(shape))
}

var (
	selects = regexp.MustCompile(`^(\( )*(SELECT|WITH) `)
	into    = regexp.MustCompile(`(^| )INTO `)
	shows   = regexp.MustCompile(`^(EXPLAIN|DESCRIBE|DESC|SHOW|PRAGMA) `)
	// analyses finds the option by which an EXPLAIN runs what it explains.
	analyses     = regexp.MustCompile(`(?i)analy[sz]e|u&"`)
	explainsRead = regexp.MustCompile(`^\S+ (ANALY[SZ]E |VERBOSE |FORMAT = \S+ |\( [^()]*\) )*(\( )*(SELECT|WITH) `)
	writing      = regexp.MustCompile(`(^| )(INSERT|UPDATE|DELETE|MERGE|INTO) `)
	locking      = regexp.MustCompile(`(^| )FOR (NO KEY )?UPDATE `)
)

// writes reports whether a statement has a word that writes, even as a column's name.
func writes(shape string) bool { return writing.MatchString(locking.ReplaceAllString(shape, " ")) }

// defines reports whether a statement defines a table, a view or an index, as GORM's migrators do,
// or drops one. It reports false for statements that also write rows, such as CREATE TABLE AS.
func defines(shape string) bool {
	for _, d := range definitions {
		if form := d.form.FindString(shape); form != "" {
			return !d.changes.MatchString(shape[len(form)-1:])
		}
	}
	return false
}

var definitions = []struct{ form, changes *regexp.Regexp }{
	{regexp.MustCompile(`^CREATE (UNLOGGED )?TABLE `), regexp.MustCompile(` (SELECT|TABLE|EXECUTE|VALUES \(|VALUES ROW|INHERITS|PARTITION OF) `)},
	{regexp.MustCompile(`^ALTER TABLE `), regexp.MustCompile(` (PARTITION|SUBPARTITION|TABLESPACE|INHERIT|ENGINE|(ALTER|COLUMN) \S+ TYPE|DATA TYPE) `)},
	{regexp.MustCompile(`^(CREATE ((UNIQUE|FULLTEXT|SPATIAL) )?INDEX|CREATE (OR REPLACE )?VIEW|ALTER (INDEX|SEQUENCE)|DROP|RENAME|COMMENT) `), regexp.MustCompile(`$.`)},
}

// OnlyReads reports whether sql is one SELECT that only reads, or a plain statement about a
// savepoint. A function that only a view calls is not seen.
func OnlyReads(g *dialect.Grammar, sql string) bool {
	if _, savepoint := PlainSavepoint(sql); savepoint {
		return true
	}
	return !slices.ContainsFunc(shapes(g, sql), func(s string) bool {
		plain := strings.HasPrefix(strings.TrimLeft(s, "( "), "SELECT ") && reads(s, sql) && !strings.Contains(s, "; ")
		return !plain || g.StoredFunctions && slices.ContainsFunc(calls.FindAllStringSubmatch(s, -1), isStored)
	})
}

// calls finds calls of functions: a schema, if any, and a name.
var calls = regexp.MustCompile("(\\. )?([\"`[]|[\\w[:^ascii:]]\\S*) \\(")

// isStored reports whether a function that a SELECT calls may be a stored one: it has a schema or
// quotes, or is not known to be the server's own.
func isStored(call []string) bool { return call[1] != "" || !slices.Contains(readers, call[2]) }

// readers are the words that may stand before a parenthesis in a SELECT that writes nothing:
// keywords, the standard aggregates, and what the plugin's own queries call. Any other function
// counts as a write, which costs a call of the functions before the COMMIT.
var readers = strings.Fields(`
	ALL AND ANY BETWEEN BY CASE DISTINCT ELSE EXCEPT EXISTS FROM IN INTERSECT JOIN LATERAL LIKE LIMIT NOT ON OR SELECT THEN UNION
	USING VALUES WHEN WHERE WITH
	AVG COUNT MAX MIN SUM
	CAST CHAR CHAR_LENGTH COALESCE CONVERT LEFT LENGTH REPLACE
	AS`)
