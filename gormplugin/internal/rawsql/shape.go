package rawsql

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// script is the shape of a text in doubt.
const script = "SCRIPT "

// shapes returns what rules look at, for each way to read sql: its words in capitals, the quote of
// each string and quoted name, and all other signs, each with a blank behind it. Blanks and
// comments are left out. A comment that some server executes, or ends elsewhere, is in doubt, and
// so are bytes that another character set reads differently.
func shapes(g *dialect.Grammar, sql string) []string {
	if g.Charsets && (!utf8.ValidString(sql) || swallowed.MatchString(sql)) {
		return []string{script}
	}
	readings := g.Escaped
	if !strings.Contains(sql, `\`) {
		readings = readings[:1]
	}
	var all []string
	for _, escaped := range readings {
		var b strings.Builder
		b.Grow(2 * len(sql))
		for rest := folded(sql); rest != ""; {
			n, kind := next(g, rest, escaped)
			switch kind {
			case blank:
			case doubt:
				return []string{script}
			case word:
				b.WriteString(rest[:n] + " ")
			default:
				b.WriteString(string(kind) + " ")
			}
			rest = rest[n:]
		}
		all = append(all, strings.ToUpper(b.String()))
	}
	return all
}

// swallowed finds a backslash that may be the second byte of a character, as in GBK and Shift JIS.
var swallowed = regexp.MustCompile(`[^[:ascii:]]\\`)

// Kinds of the parts of SQL. Strings and quoted names have the kind of their quote, and each sign
// has its own.
const (
	blank rune = iota
	doubt
	word
)

// next returns the length and the kind of what sql, in small letters, begins with. In the quotes
// that are escaped, a backslash takes the next byte along.
func next(g *dialect.Grammar, sql, escaped string) (int, rune) {
	switch b := sql[0]; {
	case b == ' ' || b >= '\t' && b <= '\r':
		return 1, blank
	case b == '-' && g.Dashes.MatchString(sql), b == '#' && g.HashComments:
		if n := strings.IndexAny(sql, g.LineEnds); n >= 0 {
			return n, blank
		}
		return len(sql), blank
	case strings.HasPrefix(sql, "/*"):
		text, _, _ := strings.Cut(sql[len("/*"):], "*/")
		n := min(len("/*")+len(text)+len("*/"), len(sql))
		if strings.Contains(text, "/*") || g.Executes.MatchString(text) {
			return n, doubt
		}
		return n, blank
	case g.Dollars && (b == 'e' || b == 'u') && prefixed.MatchString(sql):
		n := strings.IndexAny(sql, `'"`)
		length, kind := quoted(sql[n:], b == 'e')
		return n + length, kind
	case g.Dollars && b == '$':
		tag := dollarTag.FindString(sql)
		if tag == "" {
			return 1, '$'
		}
		_, rest, _ := strings.Cut(sql[len(tag):], tag)
		return len(sql) - len(rest), '\''
	case strings.IndexByte(g.Quotes, b) >= 0:
		return quoted(sql, strings.IndexByte(escaped, b) >= 0)
	case b >= '0' && b <= '9': // older versions of PostgreSQL take 1INTO for a number and a word
		return len(number.FindString(sql)), word
	case isWord(b):
		n := 1
		for n < len(sql) && isWord(sql[n]) {
			n++
		}
		return n, word
	default:
		return 1, rune(b)
	}
}

var (
	number = regexp.MustCompile(`^\d+(?:e\d+)?`)
	// prefixed is how E'strings', U&'strings' and U&"names" of PostgreSQL begin.
	prefixed = regexp.MustCompile(`^(?:e'|u&['"])`)
	// dollarTag is around a string of PostgreSQL; $1 is a parameter.
	dollarTag = regexp.MustCompile(`^\$(?:[a-z_[:^ascii:]][0-9a-z_[:^ascii:]]*)?\$`)
	// continued is between two parts of one string.
	continued = regexp.MustCompile(`^[ \t\v\f]*[\n\r]\s*'`)
)

// quoted returns the length and the kind of what begins with a quote. It ends with the closing one,
// which is doubled where it stands for itself, or else with sql.
func quoted(sql string, escapes bool) (int, rune) {
	kind, closing := rune(sql[0]), sql[:1]
	if kind == '[' {
		closing = "]"
	}
	for i := 1; i < len(sql); i++ {
		switch {
		case sql[i] == '\\' && escapes:
			i++
		case sql[i] != closing[0]:
		case closing != "]" && strings.HasPrefix(sql[i+1:], closing):
			i++
		case escapes && continued.MatchString(sql[i+1:]):
			i += len(continued.FindString(sql[i+1:]))
		default:
			return i + 1, kind
		}
	}
	return len(sql), kind
}

// folded returns a text without the differences of letter case. A byte order mark is a blank to
// SQLite.
func folded(text string) string {
	return strings.ReplaceAll(strings.ToLower(strings.ToUpper(text)), "\ufeff", " ")
}

// isWord reports whether b, in small letters, can be part of a name without quotes.
func isWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '_' || b == '$' || b >= 0x80
}
