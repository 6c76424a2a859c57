package rawsql

import (
	"iter"
	"regexp"
	"strings"
)

// token is a piece of SQL.
type token struct {
	// kind is 'w' for a keyword, a name without quotes or a number, '"' for a quoted name, '\” for
	// a string, and otherwise the byte of the sign; 0 for blanks and comments.
	kind byte
	// text is that of a word, and what is between the quotes of a name or a string.
	text string
}

// reading is one of the ways to read SQL, as the settings and the version of the server decide.
type reading struct {
	*Grammar
	// escaped are the quotes in which a backslash takes the next byte along.
	escaped string
	// executed is set where comments such as /*!50000 … */ are.
	executed bool
}

// tokens yields what sql consists of, without blanks and comments.
func (r reading) tokens(sql string) iter.Seq[token] {
	return func(yield func(token) bool) {
		// A byte order mark is a blank to SQLite.
		for rest := strings.ReplaceAll(sql, "\ufeff", " "); rest != ""; {
			n, t := r.next(rest)
			if t.kind != 0 && !yield(t) {
				return
			}
			rest = rest[n:]
		}
	}
}

// next reads what sql begins with, and returns its length.
func (r reading) next(sql string) (int, token) {
	switch b := sql[0]; {
	case b == ' ' || b >= '\t' && b <= '\r':
		return 1, token{}
	case r.isLineComment(sql):
		if n := strings.IndexAny(sql, r.lineEnds); n >= 0 {
			return n, token{}
		}
		return len(sql), token{}
	case strings.HasPrefix(sql, "/*"):
		return r.comment(sql), token{}
	case r.executed && strings.HasPrefix(sql, "*/"):
		return len("*/"), token{}
	case r.prefixedQuotes && strings.IndexByte("eEuU", b) >= 0 && prefixed.MatchString(sql):
		n := strings.IndexAny(sql, `'"`)
		length, t := quoted(sql[n:], b|0x20 == 'e')
		return n + length, t
	case b == '$' && strings.IndexByte(r.quotes, '$') >= 0 && dollarTag.MatchString(sql):
		tag := dollarTag.FindString(sql)
		text, rest, _ := strings.Cut(sql[len(tag):], tag)
		return len(sql) - len(rest), token{'\'', text}
	case b != '$' && strings.IndexByte(r.quotes, b) >= 0:
		return quoted(sql, strings.IndexByte(r.escaped, b) >= 0)
	case b >= '0' && b <= '9': // older versions of PostgreSQL take 1INTO for a number and a word
		text := number.FindString(sql)
		return len(text), token{'w', text}
	case b != '$' && isIdentifier(b):
		n := 1
		for n < len(sql) && isIdentifier(sql[n]) {
			n++
		}
		return n, token{'w', sql[:n]}
	default:
		return 1, token{b, ""}
	}
}

var (
	number = regexp.MustCompile(`^\d+(?:[eE]\d+)?`)
	// prefixed is how E'strings', U&'strings' and U&"names" of PostgreSQL begin.
	prefixed = regexp.MustCompile(`^(?i:e'|u&['"])`)
	// dollarTag is around a string of PostgreSQL; $1 is a parameter.
	dollarTag = regexp.MustCompile(`^\$(?:[A-Za-z_[:^ascii:]][0-9A-Za-z_[:^ascii:]]*)?\$`)
	// continued is between two parts of one string.
	continued = regexp.MustCompile(`^[ \t\v\f]*[\n\r]\s*'`)
	// executedMark begins a comment that some version of MySQL or MariaDB executes.
	executedMark = regexp.MustCompile(`^/\*M?!\d{0,6}`)
)

// isLineComment reports whether sql begins with a comment of one line.
func (r reading) isLineComment(sql string) bool {
	const del = 0x7f
	dashes := strings.HasPrefix(sql, "--") && (!r.dashesNeedSpace || len(sql) == 2 || sql[2] <= ' ' || sql[2] == del)
	return dashes || r.hashComments && sql[0] == '#'
}

// comment returns the length of the comment that begins sql, or of the mark of an executed one.
func (r reading) comment(sql string) int {
	if r.executed && executedMark.MatchString(sql) {
		return len(executedMark.FindString(sql))
	}
	for depth, i := 0, 0; i < len(sql); i++ {
		switch {
		case strings.HasPrefix(sql[i:], "/*") && (depth == 0 || r.nestedComments):
			depth++
			i++
		case strings.HasPrefix(sql[i:], "*/"):
			depth--
			i++
			if depth == 0 {
				return i + 1
			}
		}
	}
	return len(sql)
}

// quoted reads what begins with a quote, up to the closing one, which is doubled where it stands
// for itself. Without one that is all of the rest.
func quoted(sql string, escapes bool) (int, token) {
	closing, kind := sql[0], byte('"')
	switch closing {
	case '\'':
		kind = '\''
	case '[':
		closing = ']'
	}
	one := string(closing)
	for i := 1; i < len(sql); i++ {
		switch {
		case sql[i] == '\\' && escapes:
			i++
		case sql[i] != closing:
		case closing != ']' && strings.HasPrefix(sql[i+1:], one):
			i++
		case escapes && closing == '\'' && continued.MatchString(sql[i+1:]):
			i += len(continued.FindString(sql[i+1:]))
		default:
			return i + 1, token{kind, strings.ReplaceAll(sql[1:i], one+one, one)}
		}
	}
	return len(sql), token{kind, sql[1:]}
}

// isIdentifier reports whether b can be part of a name without quotes.
func isIdentifier(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '$' || b >= 0x80
}
