package rawsql

import (
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
// what the text in between stands for, backslashes aside. Without a closing quote that is all of
// the rest.
func (l *lexer) quoted(closing byte, backslashes bool) string {
	l.at++
	start, end := l.at, len(l.sql)
	for ; l.at < len(l.sql); l.at++ {
		b := l.sql[l.at]
		if b == closing && (l.at+1 == len(l.sql) || l.sql[l.at+1] != closing) {
			end = l.at
			break
		}
		if b == closing || b == '\\' && backslashes {
			l.at++
		}
	}
	l.at = min(end+1, len(l.sql))
	one := string(closing)
	return strings.ReplaceAll(l.sql[min(start, end):end], one+one, one)
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
