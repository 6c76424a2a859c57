package rawsql

import (
	"encoding/hex"
	"iter"
	"math/big"
	"strings"
)

// maxTexts bounds how many readings of texts, and of texts in them, are looked into: their number
// multiplies with each level.
const maxTexts = 500

// texts yields the strings from i on. Databases join strings that stand side by side: it yields
// these joined, too. In MySQL, numbers and strings in hexadecimal or binary count as strings.
func (s *statement) texts(i int) iter.Seq[string] {
	return func(yield func(string) bool) {
		joined, pieces := "", 0
		for ; i <= len(s.tokens); i++ {
			text, ok := s.text(i)
			if ok {
				if !yield(text) {
					return
				}
				joined += text
				pieces++
				continue
			}
			if pieces > 1 && !yield(joined) {
				return
			}
			joined, pieces = "", 0
		}
	}
}

// text returns what the token at i says as a string.
func (s *statement) text(i int) (string, bool) {
	t := s.at(i)
	switch {
	case t.isText() && s.grammar.joinedTargets && s.at(i-1).is("X"):
		return digits(t.text, 16)
	case t.isText() && s.grammar.joinedTargets && s.at(i-1).is("B"):
		return digits(t.text, 2)
	case t.isText():
		return t.text, true
	case t.kind != word || !s.grammar.joinedTargets || len(t.text) < 2:
		return "", false
	case strings.EqualFold(t.text[:2], "0x"):
		return digits(t.text[2:], 16)
	case strings.EqualFold(t.text[:2], "0b"):
		return digits(t.text[2:], 2)
	default:
		return "", false
	}
}

// digits returns the bytes that a number's digits say.
func digits(text string, base int) (string, bool) {
	if base == 16 {
		if len(text)%2 == 1 {
			text = "0" + text
		}
		b, err := hex.DecodeString(text)
		return string(b), err == nil
	}
	n, ok := new(big.Int).SetString(text, base)
	if !ok {
		return "", false
	}
	return string(n.Bytes()), true
}

// quoted returns a guarded table that is mentioned, in whatever way, in a string from i on: for
// strings of which SQL may be put together.
func (s *statement) quoted(i int) (string, bool) {
	left := maxTexts
	return s.quotedIn(i, &left)
}

// quotedIn is quoted for as many readings as are left.
func (s *statement) quotedIn(i int, left *int) (string, bool) {
	for text := range s.texts(i) {
		if s.names != nil {
			if table, found := s.names.mentionedBy(text); found {
				return table, true
			}
		}
		for _, r := range s.grammar.readings(text) {
			if *left--; *left < 0 {
				break
			}
			inner := statement{grammar: s.grammar, tokens: s.grammar.tokens(text, r), names: s.names, guarded: s.guarded}
			for _, t := range inner.tokens {
				if s.guards(t) {
					return t.text, true
				}
			}
			if table, found := inner.quotedIn(0, left); found {
				return table, true
			}
		}
	}
	return "", false
}

// maxNested is how deep texts are looked into that run texts.
const maxNested = 5

// quotedWrite returns a guarded table that a string from i on, read as SQL, writes.
func (s *statement) quotedWrite(i int) (string, bool) {
	if s.nested >= maxNested {
		return "", false
	}
	for text := range s.texts(i) {
		for _, r := range s.grammar.readings(text) {
			for piece := range pieces(s.grammar.tokens(text, r)) {
				inner := statement{grammar: s.grammar, tokens: piece, names: s.names, guarded: s.guarded, nested: s.nested + 1}
				if w, found := inner.write(); found {
					return w.Table, true
				}
			}
		}
	}
	return "", false
}
