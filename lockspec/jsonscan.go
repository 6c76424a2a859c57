package lockspec

import (
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock/internal/shown"
)

// jsonScanner goes once through a body. It checks the syntax of RFC 8259, and finds the fields.
type jsonScanner struct {
	text string
	pos  int

	fields []jsonField
	// onWay is a stack of the fields to which the values that are being read lead.
	onWay []*jsonField
	// keys is a stack of the keys of the objects that are being read, the innermost on top.
	keys []string
}

// value reads one value, depth objects and arrays below the top. It is on the way to fields, whose
// first depth names lead to it.
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

// stringValue reads a string that is no key.
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

// array reads an array, which no field is in.
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
	mine, bottom := objectKeys{bottom: len(s.keys)}, len(s.onWay)
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
		if !s.addKey(&mine, key) {
			return &InvalidError{Reason: fmt.Sprintf("the key %q occurs twice in one object", shown.Cut(key))}
		}
		if err := s.value(depth+1, s.onWay[bottom:]); err != nil {
			return err
		}
		s.onWay = s.onWay[:bottom]
		if done, err := s.next('}'); done || err != nil {
			s.keys = s.keys[:mine.bottom]
			return err
		}
	}
}

// key reads a key and its colon.
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

// next reads what follows a value in an array or an object: a comma, or the bracket at the end.
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

// fewKeys is how many keys of an object are compared one by one. More are kept in a map, so that a
// body of a hundred thousand keys costs no more for each than a body of ten.
const fewKeys = 16

// objectKeys are the keys of one object.
type objectKeys struct {
	bottom int // where they begin on the stack
	many   map[string]struct{}
}

// addKey adds a key to the innermost object. It returns false if the object has it already.
func (s *jsonScanner) addKey(o *objectKeys, key string) bool {
	if o.many != nil {
		before := len(o.many)
		o.many[key] = struct{}{}
		return len(o.many) > before
	}
	if slices.Contains(s.keys[o.bottom:], key) {
		return false
	}
	s.keys = append(s.keys, key)
	if keys := s.keys[o.bottom:]; len(keys) > fewKeys {
		o.many = make(map[string]struct{}, 4*fewKeys)
		for _, key := range keys {
			o.many[key] = struct{}{}
		}
	}
	return true
}
