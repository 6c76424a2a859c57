package lockspec

import (
	"fmt"

	"github.com/pathlock-go/pathlock/internal/shown"
)

// jsonScanner goes once through a body: it checks the syntax, as RFC 8259 has it, and collects the
// fields that are looked for.
type jsonScanner struct {
	text string
	pos  int

	fields []jsonField
	// onWay is a stack: the fields that the values lead to which are being read.
	onWay []*jsonField
	keys  jsonKeys
}

// value reads one value, depth objects and arrays below the top. The value is on the way to the
// fields: their first depth names lead to it.
func (s *jsonScanner) value(depth int, fields []*jsonField) error {
	s.skipSpace()
	switch c := s.peek(); {
	case c == '{':
		return s.object(depth, fields)
	case c == '[':
		return s.array(depth, fields)
	case c == '"':
		return s.stringValue(depth, fields)
	case c == '-' || isDigit(c):
		return s.numberValue(depth, fields)
	case c == 'n':
		for _, f := range fields {
			f.value.Null = f.isAt(depth)
		}
		return s.literal("null")
	case c == 't' || c == 'f':
		for _, f := range fields {
			f.mismatch(depth)
		}
		if c == 't' {
			return s.literal("true")
		}
		return s.literal("false")
	default:
		return s.malformed()
	}
}

// stringValue reads a string that is a value.
func (s *jsonScanner) stringValue(depth int, fields []*jsonField) error {
	raw, escaped, err := s.string()
	for _, f := range fields {
		if !f.isAt(depth) {
			f.mismatch(depth)
			continue
		}
		text, whole := raw, true
		if escaped && err == nil {
			text, whole = unescape(raw)
		}
		if f.value = (JSONValue{Text: text, OK: true}); !whole {
			f.wrong = &InvalidError{Field: f.dotted, Reason: halfPair}
		}
	}
	return err
}

// numberValue reads a number.
func (s *jsonScanner) numberValue(depth int, fields []*jsonField) error {
	start := s.pos
	err := s.number()
	for _, f := range fields {
		if !f.isAt(depth) {
			f.mismatch(depth)
			continue
		}
		f.value = JSONValue{Text: s.text[start:s.pos], OK: true}
	}
	return err
}

// array reads an array. No field is in one.
func (s *jsonScanner) array(depth int, fields []*jsonField) error {
	if err := s.descend(depth); err != nil {
		return err
	}
	for _, f := range fields {
		f.mismatch(depth)
	}
	if s.skipSpace(); s.peek() == ']' {
		s.pos++
		return nil
	}
	for {
		if err := s.value(depth+1, nil); err != nil {
			return err
		}
		if done, err := s.next(']'); done || err != nil {
			return err
		}
	}
}

// object reads an object.
func (s *jsonScanner) object(depth int, fields []*jsonField) error {
	if err := s.descend(depth); err != nil {
		return err
	}
	for _, f := range fields {
		if f.isAt(depth) {
			f.mismatch(depth)
		}
	}
	if s.skipSpace(); s.peek() == '}' {
		s.pos++
		return nil
	}
	mine, bottom := s.keys.open(), len(s.onWay)
	for {
		key, err := s.key()
		if err != nil {
			return err
		}
		for _, f := range fields {
			if f.isAt(depth) {
				continue
			}
			leads, err := f.match(key, depth)
			if err != nil {
				return err
			}
			if leads {
				s.onWay = append(s.onWay, f)
			}
		}
		if !s.keys.add(&mine, key) {
			return &InvalidError{Reason: fmt.Sprintf("the key %q occurs twice in one object", shown.Cut(key))}
		}
		if err := s.value(depth+1, s.onWay[bottom:]); err != nil {
			return err
		}
		s.onWay = s.onWay[:bottom]
		if done, err := s.next('}'); done || err != nil {
			s.keys.close(mine)
			return err
		}
	}
}

// key reads a key and the colon behind it.
func (s *jsonScanner) key() (string, error) {
	if s.skipSpace(); s.peek() != '"' {
		return "", s.malformed()
	}
	key, escaped, err := s.string()
	if err != nil {
		return "", err
	}
	if escaped {
		var whole bool
		if key, whole = unescape(key); !whole {
			return "", &InvalidError{Reason: fmt.Sprintf("the key %q %s", shown.Cut(key), halfPair)}
		}
	}
	if s.skipSpace(); s.peek() != ':' {
		return "", s.malformed()
	}
	s.pos++
	return key, nil
}

// descend reads the bracket that begins an array or an object.
func (s *jsonScanner) descend(depth int) error {
	if depth >= MaxJSONDepth {
		return &InvalidError{Reason: fmt.Sprintf("the body nests deeper than %d", MaxJSONDepth)}
	}
	s.pos++
	return nil
}

// next reads what is behind a value in an array or an object: a comma, or the bracket that ends it.
func (s *jsonScanner) next(end byte) (done bool, err error) {
	s.skipSpace()
	switch s.peek() {
	case ',':
		s.pos++
		return false, nil
	case end:
		s.pos++
		return true, nil
	default:
		return false, s.malformed()
	}
}
