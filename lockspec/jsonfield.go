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
	// Text is the text of a string, or the literal text of a number, so that no id is rounded:
	// whether "1e3" is an id is for the resolver to say.
	Text string
	// OK is false where the field, or an object on the way to it, is missing or null.
	OK bool
	// Null is set where the field itself is there, and null.
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

// JSONFields finds fields of a JSON body by the dotted names of the objects and fields on the way
// to each. It returns one value for each name, in the order of the names, and goes through the body
// once, however many they are.
//
// The lock has to be on the node that the handler will work on, so that wherever the handler's
// decoder could read the body in another way the answer is an [*InvalidError]. As in
// [encoding/json], a key also matches in another case of letters; it is an error if two keys match
// in one object, of which decoders take one or the other. These are errors too, anywhere in the
// body:
//
//   - a key that occurs twice in an object,
//   - a key with half of a surrogate pair ("\ud83d"), which decoders replace by U+FFFD without a
//     word,
//   - invalid UTF-8, a syntax error, and anything behind the JSON value,
//   - nesting deeper than [MaxJSONDepth],
//
// and of the fields, one that is neither text nor a number nor null, and half of a surrogate pair
// in one that is text.
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

// JSONText returns the text of a JSON value, which has to be a string, as [JSONFields] reads that
// of a field: half of a surrogate pair is an [*InvalidError], and so is any other value. The value
// has to be valid JSON, such as a [encoding/json.RawMessage].
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

// jsonField is a field that is looked for.
type jsonField struct {
	dotted string
	names  []string
	// matched is how many of the names have been found, one below the other.
	matched int
	value   JSONValue
	// wrong is what is wrong with the field. The body as a whole is looked at first: that it is
	// not JSON at all is the better answer.
	wrong error
}

// isAt reports whether the value that is depth objects below the top is the field's, where the
// value is on the way to the field.
func (f *jsonField) isAt(depth int) bool { return depth == len(f.names) }

// match notes a key of the object that the first depth names lead to. It reports whether the key
// leads on to the field.
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

// mismatch notes that what is found depth objects below the top is not of the type that it should
// be.
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
