package rawsql

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Names are the guarded tables' names, without schemas. Letter case does not count, wherever it
// does in the database: in doubt, a name is one of them.
type Names struct {
	grammar *Grammar
	names   []string
}

// NewNames returns the names for SQL of the grammar.
func NewNames(grammar *Grammar, names ...string) *Names { return &Names{grammar, names} }

// Same reports whether two names are taken for one.
func (n *Names) Same(a, b string) bool { return folded(a) == folded(b) }

// folded returns a text without the differences of letter case.
func folded(text string) string { return strings.ToLower(strings.ToUpper(text)) }

// FirstIn returns the first of the names that sql has as an identifier. The name is "" where sql
// may have one, but does not say which.
func (n *Names) FirstIn(sql string) (guarded string, found bool) {
	for _, r := range n.grammar.readings(sql) {
		for t := range r.tokens(sql) {
			i := slices.IndexFunc(n.names, func(guarded string) bool { return n.Same(t.text, guarded) })
			if i >= 0 && (t.kind != '\'' || n.grammar == &SQLite) { // there, a string may be a name
				return n.names[i], true
			}
		}
	}
	return "", n.grammar.isUnclear(sql) || n.escapes(sql)
}

// escapes reports whether sql may have a name that is written in escapes.
func (n *Names) escapes(sql string) bool { return n.grammar.prefixedQuotes && escaped.MatchString(sql) }

var escaped = regexp.MustCompile(`(?i)\bu&['"]`)

// mentioned returns the first of the names that stands somewhere in sql, be it in a string or a
// comment. The name is "" where sql may hide one.
func (n *Names) mentioned(sql string) (guarded string, found bool) {
	text := folded(sql)
	for _, name := range n.names {
		if stands(text, folded(name)) || stands(undoubled.Replace(text), folded(name)) {
			return name, true
		}
	}
	runs := n.grammar.hides(text) && slices.ContainsFunc(n.grammar.shapes(sql), n.grammar.runsText.MatchString)
	return "", runs || n.escapes(sql)
}

// undoubled makes one of two quotes, by which a quote stands for itself.
var undoubled = strings.NewReplacer("``", "`", `""`, `"`, "''", "'")

// stands reports whether a name is in a text, and in no longer word, also of those with a dash.
func stands(text, name string) bool {
	for end := 0; ; {
		i := strings.Index(text[end:], name)
		if i < 0 {
			return false
		}
		before := text[:end+i]
		end += i + len(name)
		if !endsWord.MatchString(before[max(0, len(before)-1):]) && !beginsWord.MatchString(text[end:]) {
			return true
		}
	}
}

var (
	endsWord   = regexp.MustCompile(`[0-9a-z_-]$`)
	beginsWord = regexp.MustCompile(`^([0-9a-z_]|-[^-])`)
)

// Write is a statement that may write to a guarded table.
type Write struct {
	// Statement is the word that it begins with, SCRIPT where there are several statements, or
	// where its comments may be executed.
	Statement string
	// Table is the guarded table; "" where the text hides which.
	Table string
}

// FindWrite reports whether sql may write one of the tables: whether it mentions one, and is not a
// statement that plainly reads or defines.
func (n *Names) FindWrite(sql string) (Write, bool) {
	table, found := n.mentioned(sql)
	if !found {
		return Write{}, false
	}
	for _, s := range n.grammar.shapes(sql) {
		first, more, _ := strings.Cut(s, "; ")
		if more == "" && (reads(first, sql) || defines(first) || n.copies(sql)) {
			continue
		}
		if more != "" {
			first = script
		}
		return Write{cmp.Or(firstWord.FindString(first), "SCRIPT"), table}, true
	}
	return Write{}, false
}

var firstWord = regexp.MustCompile(`[A-Z]\S*`)

// reads reports whether a statement is a SELECT or an EXPLAIN that writes nothing.
func reads(shape, sql string) bool {
	switch {
	case shows.MatchString(shape):
		return !analyses.MatchString(sql) || explainsRead.MatchString(shape) && !writes(shape)
	case selects.MatchString(shape):
		return !strings.Contains(shape, "INTO ") && (!strings.Contains(shape, "WITH ") || !writes(shape))
	default:
		return false
	}
}

var (
	selects = regexp.MustCompile(`^(\( )*(SELECT|WITH) `)
	shows   = regexp.MustCompile(`^(EXPLAIN|DESCRIBE|DESC|SHOW|PRAGMA) `)
	// analyses finds in SQL what has an EXPLAIN run what it explains.
	analyses     = regexp.MustCompile(`(?i)analy[sz]e`)
	explainsRead = regexp.MustCompile(`^\S+ (ANALY[SZ]E |VERBOSE |FORMAT = \S+ |\( [^()]*\) )*(\( )*(SELECT|WITH) `)
	writing      = regexp.MustCompile(`(^| )(INSERT|UPDATE|DELETE|MERGE|INTO) `)
	locking      = strings.NewReplacer("FOR UPDATE ", "", "KEY UPDATE ", "")
)

// writes reports whether a statement has a word that writes, be it a column's name.
func writes(shape string) bool { return writing.MatchString(locking.Replace(shape)) }

// defines reports whether a statement defines a table, a view or an index, as GORM's migrators do,
// and changes no row: no partition, engine or, on PostgreSQL, type.
func defines(shape string) bool {
	for _, d := range definitions {
		if form := d.form.FindString(shape); form != "" {
			return !d.changes.MatchString(shape[len(form)-1:])
		}
	}
	return false
}

var definitions = []struct{ form, changes *regexp.Regexp }{
	{regexp.MustCompile(`^CREATE ((UNIQUE|FULLTEXT|SPATIAL) )?INDEX `), never},
	{regexp.MustCompile(`^CREATE ((TEMPORARY|TEMP|UNLOGGED) )?TABLE `), regexp.MustCompile(` (SELECT|TABLE|EXECUTE|VALUES \(|VALUES ROW) `)},
	{regexp.MustCompile(`^ALTER TABLE `), regexp.MustCompile(` (PARTITION|SUBPARTITION|TABLESPACE|INHERIT|ENGINE|(ALTER|COLUMN) \S+ TYPE|DATA TYPE) `)},
	{regexp.MustCompile(`^(CREATE (OR REPLACE )?VIEW|ALTER (INDEX|SEQUENCE)|DROP|RENAME|COMMENT) `), never},
}

// copies reports whether sql copies rows to another table, as GORM's migrators for SQLite do where
// they make a table anew.
func (n *Names) copies(sql string) bool {
	to := copied.FindStringSubmatch(sql)
	return n.grammar == &SQLite && to != nil && !slices.ContainsFunc(n.names, func(guarded string) bool { return n.Same(to[1], guarded) })
}

var copied = regexp.MustCompile("^INSERT INTO `([^`]+__temp)`\\(")

// OnlyReads reports whether sql is one SELECT that only reads, or a plain statement about a
// savepoint. A function that only a view calls is not seen.
func (g *Grammar) OnlyReads(sql string) bool {
	if _, savepoint := PlainSavepoint(sql); savepoint {
		return true
	}
	for _, s := range g.shapes(sql) {
		if !strings.HasPrefix(strings.TrimLeft(s, "( "), "SELECT ") || strings.Contains(s, "; ") || !reads(s, sql) || g.storedFunctions && callsStored(s) {
			return false
		}
	}
	return true
}

// callsStored reports whether a SELECT may call a function that somebody has stored: one with a
// schema or in quotes, or one that is not known to be the server's own.
func callsStored(shape string) bool {
	for _, call := range calls.FindAllStringSubmatch(shape, -1) {
		if call[1] != "" || !slices.Contains(readers, call[2]) {
			return true
		}
	}
	return false
}

var calls = regexp.MustCompile(`(\. )?("|[\w[:^ascii:]]\S*) \(`)

// readers are the words that may stand before a parenthesis in a SELECT that writes nothing:
// keywords, the standard aggregates, and what the plugin's own queries call. Any other function
// counts as a write, which costs a call of the functions before the COMMIT.
var readers = strings.Fields(`
	ALL AND ANY BETWEEN BY CASE DISTINCT ELSE EXCEPT EXISTS FROM IN INTERSECT JOIN LATERAL LIKE LIMIT NOT ON OR SELECT THEN UNION
	USING VALUES WHEN WHERE WITH
	AVG COUNT MAX MIN SUM
	CAST CHAR CHAR_LENGTH COALESCE CONVERT LEFT LENGTH REPLACE
	AS`)
