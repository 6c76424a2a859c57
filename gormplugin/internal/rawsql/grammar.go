// Package rawsql says of hand-written SQL whether it may write a guarded table, and whether it ends
// the transaction that it runs in. It knows words, quotes and comments, and no grammar: what names
// a guarded table has to be one statement that plainly reads, or one that defines, and all else
// counts as a write.
//
// What the text does not show is not seen: functions that a SELECT calls, procedures, triggers,
// views, prepared statements by their name, and SQL that the database puts together itself.
package rawsql

import "regexp"

// Grammar is what tells one dialect from the others.
type Grammar struct {
	// quotes begin a string or a quoted name.
	quotes string
	// escaped has, for each setting of the server, the quotes in which a backslash takes the next
	// byte along.
	escaped []string
	// dashes and, if hashComments is set, # begin a comment, which ends before any of lineEnds.
	dashes       *regexp.Regexp
	hashComments bool
	lineEnds     string
	// executes finds, behind its mark, a comment that may be executed, such as /*!50000 … */.
	executes *regexp.Regexp
	// charsets is set where the connection may have another character set than UTF-8.
	charsets bool
	// dollars is set where there are $tag$ strings, E'strings', U&'strings' and U&"names".
	dollars bool
	// storedFunctions is set where a function that a SELECT calls may write.
	storedFunctions bool
	// copies finds, in SQL, what copies rows to another table where a migrator makes one anew.
	copies *regexp.Regexp
	// runsText finds, in a shape, a statement that runs a text, and hides, in the SQL in small
	// letters, what may hide a name there.
	runsText, hides *regexp.Regexp
	// ends finds, in a shape, what ends the transaction or a part of it, and stays what does not
	// after all.
	ends, stays *regexp.Regexp
}

var never = regexp.MustCompile(`$.`)

// grammars are the dialects by GORM's names for them. MySQL is MariaDB, too, where sql_mode may
// allow [names], and compound statements hold others. In SQLite and PostgreSQL, the END of a body
// is taken for that of the transaction.
var grammars = map[string]*Grammar{
	"mysql": {
		quotes: "'\"`[", escaped: []string{"", "'", `'"`}, dashes: regexp.MustCompile(`^--([\x00- \x7f]|$)`), hashComments: true, lineEnds: "\n",
		charsets: true, executes: regexp.MustCompile(`^m?!`), storedFunctions: true, copies: never,
		runsText: regexp.MustCompile(`(^| )(SCRIPT|PREPARE (\d+ )?(\S+ )?FROM|EXECUTE IMMEDIATE) `), hides: regexp.MustCompile(`prepare|execute`),
		ends: regexp.MustCompile(`^(SAVEPOINT|RELEASE|ROLLBACK|COMMIT|TRUNCATE|BEGIN|IF|WHILE|FOR|LOOP|REPEAT|CASE|DECLARE|\S+ :|` +
			`SET (STATEMENT|PASSWORD|DEFAULT)|LOAD INDEX|ANALYZE (TABLE|LOCAL|NO_WRITE_TO_BINLOG)|` + //nolint:misspell // as SQL spells it
			`(ALTER|BACKUP|CACHE|CHANGE|CHECK|CLONE|CREATE|DROP|EXECUTE|FLUSH|GRANT|IMPORT|INSTALL|LOCK|OPTIMIZE|RENAME|REPAIR|` + //nolint:misspell // as SQL spells it
			`RESET|RESTART|REVOKE|SHUTDOWN|START|STOP|UNINSTALL|UNLOCK|XA)( \w+)?) `),
		stays: regexp.MustCompile(`^(CREATE (OR REPLACE )?TEMPORARY|DROP (TEMPORARY|PREPARE)|XA RECOVER) `),
	},
	"postgres": {
		quotes: `'"`, escaped: []string{"", "'"}, dashes: regexp.MustCompile(`^--`), lineEnds: "\n\r", dollars: true, executes: never, storedFunctions: true, copies: never,
		runsText: regexp.MustCompile(`(^|; )(SCRIPT|DO|CREATE (OR REPLACE )?(FUNCTION|PROCEDURE)) `), hides: regexp.MustCompile(`\\|'\s*(--.*)?[\n\r]`),
		ends: regexp.MustCompile(`^(SAVEPOINT|RELEASE|ROLLBACK|COMMIT|END|ABORT|PREPARE TRANSACTION) `), stays: never,
	},
	"sqlite": {
		quotes: "'\"`[", escaped: []string{""}, dashes: regexp.MustCompile(`^--`), lineEnds: "\n", executes: never, copies: regexp.MustCompile("^INSERT INTO `[^`]+__temp`\\("),
		runsText: never, hides: never,
		ends: regexp.MustCompile(`^(SAVEPOINT|RELEASE|ROLLBACK|COMMIT|END|ABORT) |(^| )(INSERT|UPDATE) OR ROLLBACK `), stays: never,
	},
}

// GrammarOf returns the grammar of a dialect, by GORM's name for it.
func GrammarOf(dialect string) *Grammar { return grammars[dialect] }
