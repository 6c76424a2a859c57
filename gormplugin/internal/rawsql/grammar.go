package rawsql

import (
	"regexp"
	"strings"
)

// Grammar is what tells one dialect from the others.
type Grammar struct {
	// quotes begin a string or a quoted name; $ is for $tag$ strings.
	quotes string
	// escaped has, for each setting of the server, the quotes in which a backslash takes the next
	// byte along.
	escaped []string
	// lineEnds end a comment of one line.
	lineEnds string
	// hashComments is set where # begins a comment.
	hashComments bool
	// dashesNeedSpace is set where -- begins a comment only before a blank or a control character.
	dashesNeedSpace bool
	// nestedComments is set where comments nest.
	nestedComments bool
	// executedComments is set where comments such as /*!50000 … */ may be executed.
	executedComments bool
	// prefixedQuotes is set where there are E'strings', U&'strings' and U&"names".
	prefixedQuotes bool
	// storedFunctions is set where a function that a SELECT calls may write.
	storedFunctions bool
	// runsText finds, in a shape, a statement that runs a text, and hides, in the SQL in small
	// letters, what may hide a name there.
	runsText *regexp.Regexp
	hides    func(string) bool
	// ends finds, at the beginning of a shape, what ends the transaction or a part of it, and stays
	// what does not after all.
	ends, stays *regexp.Regexp
}

// The dialects. MySQL is MariaDB, too, where sql_mode may allow [names], and compound statements
// hold others. Of double quotes settings decide whether they hold a string or a name.
var (
	MySQL = Grammar{
		quotes: "'\"`[", escaped: []string{"", "'", `'"`}, lineEnds: "\n", hashComments: true, dashesNeedSpace: true, executedComments: true, storedFunctions: true,
		runsText: regexp.MustCompile(`(^| )(PREPARE \S+ FROM|EXECUTE IMMEDIATE) `),
		hides:    func(sql string) bool { return strings.Contains(sql, "prepare") || strings.Contains(sql, "execute") },
		ends: regexp.MustCompile(`^(SCRIPT|SAVEPOINT|RELEASE|ROLLBACK|COMMIT|TRUNCATE|BEGIN|IF|WHILE|FOR|LOOP|REPEAT|CASE|DECLARE|\S+ :|` +
			`SET (STATEMENT|PASSWORD|DEFAULT)|LOAD INDEX|ANALYZE (TABLE|LOCAL|NO_WRITE_TO_BINLOG)|` + //nolint:misspell // as SQL spells it
			`(ALTER|BACKUP|CACHE|CHANGE|CHECK|CLONE|CREATE|DROP|EXECUTE|FLUSH|GRANT|IMPORT|INSTALL|LOCK|OPTIMIZE|RENAME|REPAIR|` + //nolint:misspell // as SQL spells it
			`RESET|RESTART|REVOKE|SHUTDOWN|START|STOP|UNINSTALL|UNLOCK|XA)( \w+)?) `),
		stays: regexp.MustCompile(`^(CREATE (OR REPLACE )?TEMPORARY|DROP (TEMPORARY|PREPARE)|XA RECOVER) `),
	}
	PostgreSQL = Grammar{
		quotes: "'\"$", escaped: []string{"", "'"}, lineEnds: "\n\r", nestedComments: true, prefixedQuotes: true, storedFunctions: true,
		runsText: regexp.MustCompile(`(^|; )(DO|CREATE (OR REPLACE )?(FUNCTION|PROCEDURE)) `),
		hides:    regexp.MustCompile(`\\|'\s*(--.*)?[\n\r]`).MatchString,
		ends:     regexp.MustCompile(`^(SAVEPOINT|RELEASE|ROLLBACK|COMMIT|END|ABORT|PREPARE TRANSACTION) `), stays: never,
	}
	// The END of a trigger's body is taken for one of the transaction.
	SQLite = Grammar{
		quotes: "'\"`[", escaped: []string{""}, lineEnds: "\n",
		runsText: never, hides: never.MatchString,
		ends: regexp.MustCompile(`^(SAVEPOINT|RELEASE|ROLLBACK|COMMIT|END|ABORT) |(^| )(INSERT|UPDATE) OR ROLLBACK `), stays: never,
	}
	never = regexp.MustCompile(`$.`)
)

// GrammarOf returns the grammar of a dialect, by GORM's name for it.
func GrammarOf(dialect string) *Grammar {
	switch dialect {
	case "mysql":
		return &MySQL
	case "postgres":
		return &PostgreSQL
	default:
		return &SQLite
	}
}

// readings returns the ways in which sql can be read.
func (g *Grammar) readings(sql string) []reading {
	escaped := g.escaped
	if strings.IndexByte(sql, '\\') < 0 {
		escaped = escaped[:1]
	}
	var all []reading
	for _, quotes := range escaped {
		all = append(all, reading{g, quotes, false})
		if g.mayExecute(sql) {
			all = append(all, reading{g, quotes, true})
		}
	}
	return all
}

// mayExecute reports whether sql has a comment that some version of the server executes.
func (g *Grammar) mayExecute(sql string) bool {
	return g.executedComments && (strings.Contains(sql, "/*!") || strings.Contains(sql, "/*M!"))
}

// isUnclear reports whether there are more readings of sql than are tried: whether it has several
// comments, of which a version of the server may execute some.
func (g *Grammar) isUnclear(sql string) bool {
	return g.mayExecute(sql) && strings.Count(sql, "/*") > 1
}

// script is the shape of a text that is unclear, or that has several statements.
const script = "SCRIPT "

// shapes returns what rules look at, for each reading of sql: its words in capitals, " for a quoted
// name, ' for a string, and all other signs, each with a blank behind it.
func (g *Grammar) shapes(sql string) []string {
	var all []string
	if g.isUnclear(sql) {
		all = append(all, script)
	}
	for _, r := range g.readings(sql) {
		var b strings.Builder
		b.Grow(2 * len(sql))
		for t := range r.tokens(sql) {
			if t.kind == 'w' {
				b.WriteString(t.text)
			} else {
				b.WriteByte(t.kind)
			}
			b.WriteByte(' ')
		}
		all = append(all, strings.ToUpper(b.String()))
	}
	return all
}
