package rawsql

import (
	"strconv"
	"strings"
)

// quotation reads a string or a name that begins with the quote b.
func (l *lexer) quotation(b byte) token {
	switch b {
	case '\'':
		return token{kind: literal, text: l.quoted('\'', l.reading.backslashes)}
	case '"':
		maybe := l.grammar.doubleQuotedStrings
		return token{kind: name, text: l.quoted('"', maybe && l.reading.backslashes && !l.reading.quotedNames), maybe: maybe}
	case '[':
		return token{kind: name, text: l.bracketed()}
	case '$':
		return l.dollar()
	default:
		return token{kind: name, text: l.quoted(b, false)}
	}
}

// quoted reads up to the closing quote, which is doubled where it stands for itself, and returns
// what the text in between stands for. Without a closing quote that is all of the rest.
func (l *lexer) quoted(closing byte, backslashes bool) string {
	l.at++
	start, plain := l.at, true
	for ; l.at < len(l.sql); l.at++ {
		switch b := l.sql[l.at]; {
		case b == '\\' && backslashes:
			plain = false
			l.at++
		case b == closing && l.at+1 < len(l.sql) && l.sql[l.at+1] == closing:
			plain = false
			l.at++
		case b == closing:
			text := l.sql[start:l.at]
			l.at++
			return l.unescape(text, closing, backslashes, plain)
		}
	}
	l.at = len(l.sql)
	return l.unescape(l.sql[min(start, l.at):], closing, backslashes, plain)
}

// bracketed reads a name in brackets, in which a closing one cannot be written.
func (l *lexer) bracketed() string {
	rest := l.sql[l.at+1:]
	n := strings.IndexByte(rest, ']')
	if n < 0 {
		l.at = len(l.sql)
		return rest
	}
	l.at += n + len("[]")
	return rest[:n]
}

// escapeString reads PostgreSQL's E'…', of which a string that begins on another line is a part,
// with the same escapes.
func (l *lexer) escapeString() token {
	text := l.quoted('\'', true)
	for {
		next := *l
		next.skipBlank()
		if !strings.ContainsAny(l.sql[l.at:next.at], "\n\r") || !next.starts("'") {
			return token{kind: literal, text: text}
		}
		l.at = next.at
		text += l.quoted('\'', true)
	}
}

// skipBlank skips spaces and comments of one line.
func (l *lexer) skipBlank() {
	for l.at < len(l.sql) {
		switch {
		case isSpace(l.sql[l.at]):
			l.at++
		case l.starts("--"):
			l.skipLine()
		default:
			return
		}
	}
}

// dollar reads PostgreSQL's $tag$ … $tag$, or a parameter such as $1.
func (l *lexer) dollar() token {
	l.at++
	if digits := l.run(isDigit); digits != "" {
		return token{kind: word, text: "$" + digits}
	}
	tag := "$" + l.run(func(b byte) bool { return b != '$' && isIdentifier(b) })
	if !l.starts("$") {
		return token{kind: word, text: tag}
	}
	tag += "$"
	text, rest, _ := strings.Cut(l.sql[l.at+1:], tag)
	l.at = len(l.sql) - len(rest)
	return token{kind: literal, text: text}
}

// unescape returns what the text between two quotes stands for. plain is set where it stands for
// itself.
func (l *lexer) unescape(text string, closing byte, backslashes, plain bool) string {
	if plain {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && backslashes:
			n, meant := min(1, len(text)-i-1), text[i+1:min(i+2, len(text))]
			switch {
			case l.grammar.dollarQuotes:
				n, meant = escaped(text[i+1:])
			case controls[meant] != "":
				meant = controls[meant]
			}
			b.WriteString(meant)
			i += n
		case c == closing:
			b.WriteByte(c)
			i++
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// controls are what letters behind a backslash stand for in MySQL. Any other byte stands for
// itself.
var controls = map[string]string{"0": "\x00", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}

// escaped returns what the first n bytes behind a backslash stand for in PostgreSQL.
func escaped(rest string) (n int, meant string) {
	if rest == "" {
		return 0, ""
	}
	code := func(digits string, base, most int) (int, string) {
		n := 0
		for n < most && n < len(digits) && isDigitOf(digits[n], base) {
			n++
		}
		value, err := strconv.ParseUint(digits[:n], base, 32)
		switch {
		case err != nil:
			return 0, ""
		case most > 3:
			return n, string(rune(value))
		default:
			return n, string([]byte{byte(value)})
		}
	}
	switch c := rest[0]; c {
	case 'n', 'r', 't', 'b', 'f':
		return 1, " "
	case 'x', 'u', 'U':
		n, meant := code(rest[1:], 16, map[byte]int{'x': 2, 'u': 4, 'U': 8}[c])
		if n > 0 {
			return n + 1, meant
		}
	case '0', '1', '2', '3', '4', '5', '6', '7':
		return code(rest, 8, 3)
	}
	return 1, rest[:1]
}

// isDigitOf reports whether b is a digit of base 8 or 16.
func isDigitOf(b byte, base int) bool {
	if base == 8 {
		return b >= '0' && b <= '7'
	}
	return isDigit(b) || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F'
}

// unescapeUnicode returns what PostgreSQL's U&'…' stands for, with the usual escape character.
func unescapeUnicode(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		digits := 4
		at := i + 1
		if at < len(text) && text[at] == '+' {
			digits, at = 6, at+1
		}
		if text[i] == '\\' && at+digits <= len(text) {
			if value, err := strconv.ParseUint(text[at:at+digits], 16, 32); err == nil {
				b.WriteRune(rune(value))
				i = at + digits - 1
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
