package rawsql

import "strings"

// kind is what a token is.
type kind uint8

const (
	// end comes after the last token, for ever.
	end kind = iota
	// word is a keyword or an identifier without quotes; numbers are words, too.
	word
	// name is an identifier in quotes, text without them.
	name
	// opaque is an identifier that is written in escapes, so that its text does not say what it names.
	opaque
	// literal is a string.
	literal
	// sign is one byte of anything else.
	sign
)

// token is a piece of SQL.
type token struct {
	kind kind
	text string
}

// is reports whether the token is the keyword, which is given in capitals.
func (t token) is(keyword string) bool {
	return t.kind == word && len(t.text) == len(keyword) && strings.EqualFold(t.text, keyword)
}

// isSign reports whether the token is the byte.
func (t token) isSign(b byte) bool { return t.kind == sign && t.text[0] == b }

// reading is one way to read SQL of which there are several.
type reading struct {
	// backslashes is set where a backslash in a string takes the next byte along.
	backslashes bool
	// versions is set where MySQL's comments /*! … */ are executed.
	versions bool
}

// lexer cuts SQL into tokens.
type lexer struct {
	sql     string
	at      int
	grammar *Grammar
	reading reading
}

// tokens returns all tokens of sql.
func (g *Grammar) tokens(sql string, r reading) []token {
	l := lexer{sql: sql, grammar: g, reading: r}
	all := make([]token, 0, len(sql)/4+1)
	for {
		t := l.next()
		if t.kind == end {
			return all
		}
		all = append(all, t)
	}
}

// next returns the next token.
func (l *lexer) next() token {
	for l.at < len(l.sql) {
		switch b := l.sql[l.at]; {
		case b == ' ' || b >= '\t' && b <= '\r':
			l.at++
		case l.starts("--") && l.isDashComment(), b == '#' && l.grammar.hashComments:
			l.skipLine()
		case l.starts("/*"):
			l.comment()
		case l.starts("*/") && l.reading.versions:
			l.at += len("*/")
		case b == '\'':
			return token{literal, l.quoted('\'', l.reading.backslashes)}
		case b == '"':
			return token{name, l.quoted('"', l.reading.backslashes && l.grammar.hashComments)}
		case b == '`':
			return token{name, l.quoted('`', false)}
		case b == '[' && l.grammar.brackets:
			return token{name, l.quoted(']', false)}
		case b == '$' && l.grammar.dollarQuotes:
			if text, ok := l.dollarQuoted(); ok {
				return token{literal, text}
			}
			return l.word()
		case isIdentifier(b):
			return l.prefixedOrWord()
		default:
			l.at++
			return token{sign, l.sql[l.at-1 : l.at]}
		}
	}
	return token{}
}

// starts reports whether the rest begins with prefix.
func (l *lexer) starts(prefix string) bool { return strings.HasPrefix(l.sql[l.at:], prefix) }

// isDashComment reports whether two dashes begin a comment; in MySQL a space has to follow them.
func (l *lexer) isDashComment() bool {
	next := l.at + len("--")
	return !l.grammar.dashesNeedSpace || next >= len(l.sql) || l.sql[next] <= ' '
}

// skipLine goes to the end of the line.
func (l *lexer) skipLine() {
	if n := strings.IndexByte(l.sql[l.at:], '\n'); n >= 0 {
		l.at += n
		return
	}
	l.at = len(l.sql)
}

// comment skips a comment, or only the beginning of one that is executed.
func (l *lexer) comment() {
	if l.reading.versions {
		for _, mark := range []string{"/*!", "/*M!"} {
			if !l.starts(mark) {
				continue
			}
			l.at += len(mark)
			for l.at < len(l.sql) && l.sql[l.at] >= '0' && l.sql[l.at] <= '9' {
				l.at++
			}
			return
		}
	}
	depth := 0
	for l.at < len(l.sql) {
		switch {
		case l.starts("/*") && (depth == 0 || l.grammar.nestedComments):
			depth++
			l.at += len("/*")
		case l.starts("*/"):
			depth--
			l.at += len("*/")
			if depth == 0 {
				return
			}
		default:
			l.at++
		}
	}
}

// quoted reads up to the closing quote, which is doubled where it stands for itself, and returns what
// is in between. Without a closing quote that is all of the rest.
func (l *lexer) quoted(closing byte, backslashes bool) string {
	start := l.at + 1
	for l.at = start; l.at < len(l.sql); l.at++ {
		switch b := l.sql[l.at]; {
		case b == '\\' && backslashes:
			l.at++
		case b == closing && l.at+1 < len(l.sql) && l.sql[l.at+1] == closing:
			l.at++
		case b == closing:
			l.at++
			return l.sql[start : l.at-1]
		}
	}
	l.at = len(l.sql)
	return l.sql[min(start, l.at):]
}

// dollarQuoted reads PostgreSQL's $tag$ … $tag$.
func (l *lexer) dollarQuoted() (string, bool) {
	stop := l.at + 1
	for stop < len(l.sql) && l.sql[stop] != '$' && isIdentifier(l.sql[stop]) {
		stop++
	}
	digits := l.at+1 < len(l.sql) && l.sql[l.at+1] >= '0' && l.sql[l.at+1] <= '9'
	if stop >= len(l.sql) || l.sql[stop] != '$' || digits {
		return "", false
	}
	tag := l.sql[l.at : stop+1]
	body := l.sql[stop+1:]
	n := strings.Index(body, tag)
	if n < 0 {
		l.at = len(l.sql)
		return body, true
	}
	l.at = stop + 1 + n + len(tag)
	return body[:n], true
}

// prefixedOrWord reads a word, or a quoted thing that a letter stands before: E'…' with backslashes, U&"…" with escapes.
func (l *lexer) prefixedOrWord() token {
	if l.grammar.dollarQuotes {
		switch {
		case l.starts("e'") || l.starts("E'"):
			l.at++
			return token{literal, l.quoted('\'', true)}
		case l.starts(`u&"`) || l.starts(`U&"`):
			l.at += len("u&")
			return token{opaque, l.quoted('"', false)}
		}
	}
	return l.word()
}

// word reads an identifier without quotes, or a number, or a parameter such as $1.
func (l *lexer) word() token {
	start := l.at
	for l.at < len(l.sql) && isIdentifier(l.sql[l.at]) {
		l.at++
	}
	return token{word, l.sql[start:l.at]}
}

// isIdentifier reports whether b can be part of an identifier without quotes.
func isIdentifier(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '$' || b >= 0x80
}
