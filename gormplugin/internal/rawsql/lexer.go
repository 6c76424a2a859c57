package rawsql

import "strings"

// kind is what a token is.
type kind uint8

const (
	// end comes after the last token, any number of times.
	end kind = iota
	// word is a keyword or an identifier without quotes; numbers are words, too.
	word
	// name is an identifier in quotes, text without them.
	name
	// opaque is an identifier that is written in escapes, so that its text does not say what it
	// names.
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
	// maybe is set on a name that is a string where the server's settings say so.
	maybe bool
}

// is reports whether the token is the keyword, which is given in capitals.
func (t token) is(keyword string) bool {
	return t.kind == word && len(t.text) == len(keyword) && strings.EqualFold(t.text, keyword)
}

// isAny reports whether the token is one of the keywords.
func (t token) isAny(keywords ...string) bool {
	for _, k := range keywords {
		if t.is(k) {
			return true
		}
	}
	return false
}

// isSign reports whether the token is the byte.
func (t token) isSign(b byte) bool { return t.kind == sign && t.text[0] == b }

// isText reports whether the token is a string, or may be one.
func (t token) isText() bool { return t.kind == literal || t.maybe }

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

// byteOrderMark is U+FEFF in UTF-8.
const byteOrderMark = "\xef\xbb\xbf"

// next returns the next token.
func (l *lexer) next() token {
	for l.at < len(l.sql) {
		switch b := l.sql[l.at]; {
		case isSpace(b):
			l.at++
		case l.grammar.byteOrderMarks && l.starts(byteOrderMark):
			l.at += len(byteOrderMark)
		case l.starts("--") && l.isDashComment(), b == '#' && l.grammar.hashComments:
			l.skipLine()
		case l.starts("/*"):
			l.comment()
		case l.starts("*/") && l.reading.executed:
			l.at += len("*/")
		case b == '\'', b == '"', b == '`' && l.grammar.backquotes, b == '[' && l.grammar.brackets, b == '$' && l.grammar.dollarQuotes:
			return l.quotation(b)
		case isIdentifier(b):
			return l.prefixedOrWord()
		default:
			l.at++
			return token{kind: sign, text: l.sql[l.at-1 : l.at]}
		}
	}
	return token{}
}

// starts reports whether the rest begins with prefix.
func (l *lexer) starts(prefix string) bool { return strings.HasPrefix(l.sql[l.at:], prefix) }

// isDashComment reports whether two dashes begin a comment.
func (l *lexer) isDashComment() bool {
	const del = 0x7f
	next := l.at + len("--")
	return !l.grammar.dashesNeedSpace || next >= len(l.sql) || l.sql[next] <= ' ' || l.sql[next] == del
}

// skipLine goes to the end of the line.
func (l *lexer) skipLine() {
	for l.at < len(l.sql) && l.sql[l.at] != '\n' && (l.sql[l.at] != '\r' || !l.grammar.returnEndsLine) {
		l.at++
	}
}

// comment skips a comment, or only the beginning of one that is executed.
func (l *lexer) comment() {
	if mark := versionMark(l.sql[l.at:]); mark != "" && l.reading.executed {
		l.at += len(mark)
		return
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

// prefixedOrWord reads a word, or a quoted thing that letters stand before: E'…' with backslashes,
// U&'…' and U&"…" with escapes.
func (l *lexer) prefixedOrWord() token {
	if l.grammar.dollarQuotes {
		switch {
		case l.starts("e'"), l.starts("E'"):
			l.at++
			return token{kind: literal, text: l.quoted('\'', true)}
		case l.starts("u&'"), l.starts("U&'"):
			l.at += len("u&")
			return token{kind: literal, text: l.quoted('\'', false)}
		case l.starts(`u&"`), l.starts(`U&"`):
			l.at += len("u&")
			return token{kind: opaque, text: l.quoted('"', false)}
		case isDigit(l.sql[l.at]):
			return l.number()
		}
	}
	return l.word()
}

// word reads an identifier without quotes, or a number.
func (l *lexer) word() token { return token{kind: word, text: l.run(isIdentifier)} }

// run reads all bytes of a class that follow.
func (l *lexer) run(class func(byte) bool) string {
	start := l.at
	for l.at < len(l.sql) && class(l.sql[l.at]) {
		l.at++
	}
	return l.sql[start:l.at]
}

// number reads a number's digits. What stands right behind them is a token of its own: older
// versions of PostgreSQL take 1DELETE for a number and a word.
func (l *lexer) number() token {
	digits := l.run(isDigit)
	if (l.starts("e") || l.starts("E")) && l.at+1 < len(l.sql) && isDigit(l.sql[l.at+1]) {
		l.at++
		digits += l.run(isDigit)
	}
	return token{kind: word, text: digits}
}

// isSpace reports whether b separates tokens.
func isSpace(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }

// isDigit reports whether b is a decimal digit.
func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// isIdentifier reports whether b can be part of an identifier without quotes.
func isIdentifier(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || isDigit(b) || b == '_' || b == '$' || b >= 0x80
}
