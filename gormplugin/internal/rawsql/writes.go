// Package rawsql says of hand-written SQL whether it may write a guarded table, and whether it ends
// the transaction that it runs in. It knows words, quotes and comments, and no grammar: what names
// a guarded table has to be one statement that plainly reads, or one that defines, and all else
// counts as a write.
//
// What the text does not show is not seen: functions that a SELECT calls, procedures, triggers,
// views, prepared statements by their name, and SQL that the database puts together itself.
package rawsql

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// Names are the guarded tables' names, without schemas. Letter case does not count, wherever it
// does in the database: in doubt, a name is one of them.
type Names struct {
	grammar *dialect.Grammar
	names   []string
	// stand find the names in a text in small letters, with no longer word behind them.
	stand []*regexp.Regexp
}

// NewNames returns the names for SQL of the grammar.
func NewNames(grammar *dialect.Grammar, names ...string) *Names {
	n := &Names{grammar: grammar, names: names}
	for _, name := range names {
		// A quote in a quoted name may be doubled.
		pattern := quotes.ReplaceAllString(regexp.QuoteMeta(folded(name)), "$0{1,2}")
		n.stand = append(n.stand, regexp.MustCompile(pattern+`(?:[^0-9a-z_-]|--|$)`))
	}
	return n
}

var quotes = regexp.MustCompile("['\"`]")

// Same reports whether two names are taken for one.
func (n *Names) Same(a, b string) bool { return folded(a) == folded(b) }

// FirstIn returns the first of the names that stands somewhere in sql, be it in a string or a
// comment, and in no longer word, also of those with a dash. The name is "" where sql may hide one.
func (n *Names) FirstIn(sql string) (guarded string, found bool) {
	text := folded(strings.ToValidUTF8(sql, " "))
	for i, name := range n.names {
		for _, at := range n.stand[i].FindAllStringIndex(text, -1) {
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

// FindWrite returns a statement that may write one of the tables: one that mentions it, and neither
// plainly reads nor defines. Of the statement it is the first word, SCRIPT where there are several
// statements, or where it is in doubt how to read them; "" for none. The table is "" where sql
// hides which.
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
	// analyses finds in SQL what has an EXPLAIN run what it explains.
	analyses     = regexp.MustCompile(`(?i)analy[sz]e|u&"`)
	explainsRead = regexp.MustCompile(`^\S+ (ANALY[SZ]E |VERBOSE |FORMAT = \S+ |\( [^()]*\) )*(\( )*(SELECT|WITH) `)
	writing      = regexp.MustCompile(`(^| )(INSERT|UPDATE|DELETE|MERGE|INTO) `)
	locking      = regexp.MustCompile(`(^| )FOR (NO KEY )?UPDATE `)
)

// writes reports whether a statement has a word that writes, be it a column's name.
func writes(shape string) bool { return writing.MatchString(locking.ReplaceAllString(shape, " ")) }

// defines reports whether a statement defines a table, a view or an index, as GORM's migrators do,
// or drops one. Of statements that also write rows, such as CREATE TABLE AS, it says no.
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

// calls are a schema, if any, and the name of a function.
var calls = regexp.MustCompile("(\\. )?([\"`[]|[\\w[:^ascii:]]\\S*) \\(")

// isStored reports whether somebody may have stored a function that a SELECT calls: one with a
// schema or in quotes, or one that is not known to be the server's own.
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
