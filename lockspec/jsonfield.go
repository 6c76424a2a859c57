package lockspec

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/internal/shown"
)

// MaxJSONDepth is how deep the objects and arrays of a body may nest for [JSONFields].
const MaxJSONDepth = 100

// JSONValue is what a body has for one field.
type JSONValue struct {
	// Text is the text of a string, or the literal text of a number. So no id is rounded, and the
	// resolver decides whether "1e3" is an id.
	Text string
	// OK is false where the field, or an object on the way to it, is missing or null.
	OK bool
	// Null says that the field is there, and null.
	Null bool
}

// JSONField finds one field of a JSON body as [JSONFields] does. It returns false where the field,
// or an object on the way, is missing or null.
func JSONField(body []byte, dotted string) (value string, ok bool, err error) {
	values, err := JSONFields(body, dotted)
	if err != nil {
		return "", false, err
	}
	return values[0].Text, values[0].OK, nil
}

// JSONFields finds fields of a JSON body. The names of nested objects and fields are joined by
// dots. It returns one value for each name, in the order of the names, and goes through the body
// once.
//
// The lock has to be on the node that the handler works on. So the error is an [*InvalidError]
// wherever the handler's decoder might read the body in another way. As in [encoding/json], a key
// also matches in another case of letters. These are errors:
//
//   - in one object, two keys that match the same name, of which decoders take one or the other
//   - a key that occurs twice in an object, anywhere in the body
//   - a key with half of a surrogate pair ("\ud83d"), which decoders silently replace by U+FFFD
//   - invalid UTF-8, a syntax error, and anything behind the JSON value
//   - nesting deeper than [MaxJSONDepth]
//   - a field that is neither text nor a number nor null
//   - a field whose text has half of a surrogate pair
func JSONFields(body []byte, dotted ...string) ([]JSONValue, error) {
	if !utf8.Valid(body) {
		return nil, &InvalidError{Reason: "the body is not valid UTF-8"}
	}
	s := jsonScanner{text: string(body), fields: make([]jsonField, len(dotted))}
	if s.skipSpace(); s.pos == len(s.text) {
		return nil, &InvalidError{Reason: "the body is empty, and should be JSON"}
	}
	for i, name := range dotted {
		s.fields[i] = jsonField{dotted: name, names: strings.Split(name, ".")}
		s.onWay = append(s.onWay, &s.fields[i])
	}
	if err := s.value(0, s.onWay); err != nil {
		return nil, err
	}
	if s.skipSpace(); s.pos < len(s.text) {
		return nil, &InvalidError{Reason: "the body has something behind the JSON value"}
	}
	values := make([]JSONValue, len(dotted))
	for i := range s.fields {
		if s.fields[i].wrong != nil {
			return nil, s.fields[i].wrong
		}
		values[i] = s.fields[i].value
	}
	return values, nil
}

// JSONText returns the text of a JSON string as [JSONFields] reads that of a field. The value has
// to be valid JSON, such as a [encoding/json.RawMessage]. The error is an [*InvalidError] for half
// of a surrogate pair, and for any value but a string.
func JSONText(value []byte) (string, error) {
	s := jsonScanner{text: string(value)}
	if s.skipSpace(); s.peek() != '"' {
		return "", &InvalidError{Reason: "is not a text"}
	}
	raw, escaped, err := s.string()
	if err != nil || !escaped {
		return raw, err
	}
	text, whole := unescape(raw)
	if !whole {
		return "", &InvalidError{Reason: halfPair}
	}
	return text, nil
}

// jsonField is a field to find.
type jsonField struct {
	dotted string
	names  []string
	// matched is how many of the names have been found, one below the other.
	matched int
	value   JSONValue
	// wrong is what is wrong with the field. It is returned last, because malformed JSON is the
	// better answer.
	wrong error
}

// isAt reports whether a value on the way to the field, depth objects below the top, is the
// field's.
func (f *jsonField) isAt(depth int) bool { return depth == len(f.names) }

// match notes a key of the object that the first depth names lead to. It reports whether the key
// leads to the field.
func (f *jsonField) match(key string, depth int) (bool, error) {
	if !strings.EqualFold(key, f.names[depth]) {
		return false, nil
	}
	if f.matched > depth {
		return false, &InvalidError{Field: f.dotted, Reason: fmt.Sprintf("the key %q occurs twice in one object, in whichever case of letters", shown.Cut(key))}
	}
	f.matched++
	return true, nil
}

// mismatch notes that the value depth objects below the top has the wrong type.
func (f *jsonField) mismatch(depth int) {
	switch {
	case f.isAt(depth):
		f.wrong = &InvalidError{Field: f.dotted, Reason: "is neither text nor a number"}
	case depth == 0:
		f.wrong = &InvalidError{Reason: "the body is not a JSON object"}
	default:
		f.wrong = &InvalidError{Field: f.dotted, Reason: fmt.Sprintf("%q is not an object", strings.Join(f.names[:depth], "."))}
	}
}
