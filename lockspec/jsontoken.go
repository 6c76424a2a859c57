package lockspec

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// halfPair is the reason to refuse a text that would decode to the same as another one.
const halfPair = "has half of a surrogate pair, which is no character"

// peek returns the next byte. At the end it returns 0, with which nothing in JSON begins.
func (s *jsonScanner) peek() byte {
	if s.pos == len(s.text) {
		return 0
	}
	return s.text[s.pos]
}

// malformed returns the error of a body that is not JSON from the next byte on.
func (s *jsonScanner) malformed() error {
	if s.pos == len(s.text) {
		return &InvalidError{Reason: "malformed JSON: it ends too early"}
	}
	return &InvalidError{Reason: fmt.Sprintf("malformed JSON at byte %d", s.pos+1)}
}

func (s *jsonScanner) skipSpace() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// literal reads true, false or null.
func (s *jsonScanner) literal(word string) error {
	for i := range len(word) {
		if s.peek() != word[i] {
			return s.malformed()
		}
		s.pos++
	}
	return nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// number reads a number.
func (s *jsonScanner) number() error {
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else if err := s.digits(); err != nil {
		return err
	}
	if s.peek() == '.' {
		s.pos++
		if err := s.digits(); err != nil {
			return err
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		return s.digits()
	}
	return nil
}

// digits reads one or more digits.
func (s *jsonScanner) digits() error {
	if !isDigit(s.peek()) {
		return s.malformed()
	}
	for isDigit(s.peek()) {
		s.pos++
	}
	return nil
}

// string reads a string, and returns what is between its quotes without unescaping it.
func (s *jsonScanner) string() (raw string, escaped bool, err error) {
	s.pos++
	start := s.pos
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case c == '"':
			s.pos++
			return s.text[start : s.pos-1], escaped, nil
		case c == '\\':
			escaped = true
			if err := s.escape(); err != nil {
				return "", false, err
			}
		case c < ' ':
			return "", false, s.malformed()
		default:
			s.pos++
		}
	}
	return "", false, s.malformed()
}

// escape reads a backslash and the rest of the escape.
func (s *jsonScanner) escape() error {
	s.pos++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return nil
	case 'u':
		s.pos++
		for range 4 {
			if c := s.peek() | 0x20; !isDigit(s.peek()) && (c < 'a' || c > 'f') {
				return s.malformed()
			}
			s.pos++
		}
		return nil
	default:
		return s.malformed()
	}
}

// unescape returns the text of a string of valid syntax. The text is not whole if it has half of a
// surrogate pair, which becomes U+FFFD.
func unescape(raw string) (text string, whole bool) {
	var b strings.Builder
	b.Grow(len(raw))
	whole = true
	for {
		i := strings.IndexByte(raw, '\\')
		if i < 0 {
			b.WriteString(raw)
			return b.String(), whole
		}
		b.WriteString(raw[:i])
		raw = raw[i+1:]
		if raw[0] != 'u' {
			b.WriteByte(unescaped(raw[0]))
			raw = raw[1:]
			continue
		}
		r := codeUnit(raw[1:5])
		raw = raw[5:]
		if utf16.IsSurrogate(r) {
			if pair := secondHalf(r, raw); pair == utf8.RuneError {
				whole, r = false, utf8.RuneError
			} else {
				r, raw = pair, raw[len(`\udc00`):]
			}
		}
		b.WriteRune(r)
	}
}

// unescaped returns the character that a backslash and c mean.
func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	default:
		return c
	}
}

// codeUnit reads four hexadecimal digits.
func codeUnit(hex string) rune {
	n, err := strconv.ParseUint(hex, 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}

// secondHalf returns the character whose first half is r, if rest begins with its second half. It
// returns U+FFFD otherwise.
func secondHalf(r rune, rest string) rune {
	if len(rest) < len(`\udc00`) || rest[0] != '\\' || rest[1] != 'u' {
		return utf8.RuneError
	}
	return utf16.DecodeRune(r, codeUnit(rest[2:6]))
}
