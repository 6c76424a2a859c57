package rawsql

import (
	"regexp"
	"slices"
	"strings"
)

// Grammar is what tells one dialect from the others.
type Grammar struct {
	// hashComments is set where # begins a comment.
	hashComments bool
	// dashesNeedSpace is set where -- begins a comment only before a space or a control character.
	dashesNeedSpace bool
	// returnEndsLine is set where a carriage return ends a comment of one line.
	returnEndsLine bool
	// nestedComments is set where comments nest.
	nestedComments bool
	// versionComments is set where comments such as /*!50000 … */ are executed.
	versionComments bool
	// backquotes is set where identifiers may be in `backquotes`.
	backquotes bool
	// brackets is set where identifiers may be in [brackets]; in MariaDB where sql_mode says so.
	brackets bool
	// dollarQuotes is set where there are $tag$ strings, E'strings', U&'strings' and
	// U&"identifiers".
	dollarQuotes bool
	// byteOrderMarks is set where a byte order mark is a space.
	byteOrderMarks bool
	// stringsName is set where a string in single quotes may name a table, and doubleQuotedStrings
	// where settings decide whether double quotes hold a string or a name.
	stringsName, doubleQuotedStrings bool
	// joinedTargets is set where one statement writes to several tables of a join.
	joinedTargets bool
	// backslashes is set where settings of the server decide what a backslash in a string is.
	backslashes bool
	// selectInto is set where SELECT … INTO makes a table.
	selectInto bool
	// commitsDDL is set where a statement that defines something commits the transaction.
	commitsDDL bool
	// storedFunctions is set where a function that a SELECT calls may write.
	storedFunctions bool
	// hiding finds what may hide a name: escapes, strings in pieces, and texts that are run.
	hiding *regexp.Regexp
}

// The dialects.
var (
	MySQL = Grammar{
		backquotes: true, brackets: true, hashComments: true, dashesNeedSpace: true, versionComments: true, doubleQuotedStrings: true,
		joinedTargets: true, backslashes: true, commitsDDL: true, storedFunctions: true,
		hiding: regexp.MustCompile(`\\|[^\x00-\x7f]|(?i:prepare|execute)`),
	}
	PostgreSQL = Grammar{
		returnEndsLine: true, nestedComments: true, dollarQuotes: true, backslashes: true, selectInto: true, storedFunctions: true,
		hiding: regexp.MustCompile(`\\|[^\x00-\x7f]|&['"]|'\s*--|'[ \t\v\f]*[\n\r]`),
	}
	SQLite = Grammar{backquotes: true, brackets: true, byteOrderMarks: true, stringsName: true, hiding: regexp.MustCompile(`[^\x00-\x7f]`)}
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

// reading is one way to read SQL of which there are several.
type reading struct {
	// backslashes is set where a backslash in a string takes the next byte along.
	backslashes bool
	// quotedNames is set where what is in double quotes is a name, in which a backslash is a
	// character like any other.
	quotedNames bool
	// executed is set where comments such as /*!50000 … */ are.
	executed bool
}

// readings returns the ways in which sql can be read; where [Grammar.isAmbiguous], only some of
// them.
func (g *Grammar) readings(sql string) []reading {
	all := []reading{{}}
	if g.backslashes && strings.IndexByte(sql, '\\') >= 0 {
		all = append(all, reading{backslashes: true})
		if g.doubleQuotedStrings && strings.IndexByte(sql, '"') >= 0 {
			all = append(all, reading{backslashes: true, quotedNames: true})
		}
	}
	if g.versionComments && len(versionMarks(sql)) > 0 {
		for _, r := range slices.Clone(all) {
			r.executed = true
			all = append(all, r)
		}
	}
	return all
}

// isAmbiguous reports whether sql can be read in more ways than are tried: whether it has comments
// that different versions of a server execute.
func (g *Grammar) isAmbiguous(sql string) bool {
	return g.versionComments && len(versionMarks(sql)) > 1
}

// versionMarks returns the different beginnings of comments that some version of MySQL or MariaDB
// executes.
func versionMarks(sql string) []string {
	var marks []string
	for {
		next := strings.Index(sql, "/*")
		if next < 0 {
			return marks
		}
		sql = sql[next:]
		if mark := versionMark(sql); mark != "" && !slices.Contains(marks, mark) {
			marks = append(marks, mark)
		}
		sql = sql[1:]
	}
}

// versionMark returns the beginning of a comment that may be executed, with its version; "" for any
// other.
func versionMark(sql string) string {
	var n int
	switch {
	case strings.HasPrefix(sql, "/*!"):
		n = len("/*!")
	case strings.HasPrefix(sql, "/*M!"):
		n = len("/*M!")
	default:
		return ""
	}
	// A version has five digits or six.
	for digits := 0; digits < 6 && n < len(sql) && isDigit(sql[n]); digits++ {
		n++
	}
	return sql[:n]
}
