package lockspec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/internal/shown"
)

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

// JSONFields finds fields of a JSON body. The names of nested objects and fields are joined by
// dots. It returns one value for each name, in the order of the names.
//
// The lock has to be on the node that the handler works on. So the error is an [*InvalidError]
// wherever the handler's decoder might read the fields in another way. As in [encoding/json], a key
// also matches in another case of letters. These are errors:
//
//   - in one object, two keys that match the same name, of which decoders take one or the other
//   - half of a surrogate pair ("\ud83d") in a field, which decoders silently replace by U+FFFD,
//     and U+FFFD itself beside any escape
//   - invalid UTF-8, a syntax error, and anything behind the JSON value
//   - a field that is neither text nor a number nor null
func JSONFields(body []byte, dotted ...string) ([]JSONValue, error) {
	values := make([]JSONValue, len(dotted))
	fields := make([]*jsonField, len(dotted))
	for i, name := range dotted {
		fields[i] = &jsonField{dotted: name, names: strings.Split(name, "."), value: &values[i]}
	}
	if err := findJSON(body, fields); err != nil {
		return nil, err
	}
	return values, nil
}

// findJSON finds fields of a body.
func findJSON(body []byte, fields []*jsonField) error {
	switch {
	case !utf8.Valid(body):
		return &InvalidError{Reason: "the body is not valid UTF-8"}
	case len(bytes.TrimSpace(body)) == 0:
		return &InvalidError{Reason: "the body is empty, and should be JSON"}
	case !json.Valid(body):
		return malformed(body)
	}
	return readJSON(body, 0, fields)
}

// JSONList finds a field of a JSON body that is an array of texts and numbers. It returns none for
// a field that is missing or null. The errors are those of [JSONFields], for the items of the array
// as for a field. A single value is no array.
func JSONList(body []byte, dotted string) ([]string, error) {
	f := &jsonField{dotted: dotted, names: strings.Split(dotted, "."), value: new(JSONValue), list: true}
	if err := findJSON(body, []*jsonField{f}); err != nil {
		return nil, err
	}
	return f.items, nil
}

// JSONText returns the text of a JSON string as [JSONFields] reads that of a field. The value has
// to be valid JSON, such as a [json.RawMessage]. The error is an [*InvalidError] for half of a
// surrogate pair, and for any value but a string.
func JSONText(value []byte) (string, error) {
	raw := bytes.TrimSpace(value)
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", &InvalidError{Reason: "is not a text"}
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", err
	}
	if strings.ContainsRune(text, utf8.RuneError) {
		return "", &InvalidError{Reason: "has half of a surrogate pair, which is no character"}
	}
	return text, nil
}

// malformed says where a body is no JSON.
func malformed(body []byte) error {
	at := len(body)
	if syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(body, new(json.RawMessage))); ok {
		at = int(syntax.Offset)
	}
	return &InvalidError{Reason: fmt.Sprintf("malformed JSON near byte %d", at)}
}

// jsonField is a field to find.
type jsonField struct {
	dotted string
	names  []string
	value  *JSONValue
	// list is set where the field is an array, whose items are read.
	list  bool
	items []string
}

// readJSON reads a value for the fields that are in it, or are it. depth names of each lead to it.
// The value is valid JSON.
func readJSON(raw []byte, depth int, fields []*jsonField) error {
	raw = bytes.TrimSpace(raw)
	var deeper []*jsonField
	for _, f := range fields {
		switch {
		case depth == len(f.names):
			if err := f.read(raw); err != nil {
				return err
			}
		case raw[0] == '{':
			deeper = append(deeper, f)
		case raw[0] != 'n':
			return f.notInObject(depth)
		}
	}
	if len(deeper) == 0 {
		return nil
	}
	return readObject(raw, depth, deeper)
}

// readObject reads an object on the way to fields, or one in which they are.
func readObject(raw []byte, depth int, fields []*jsonField) error {
	found := make([]bool, len(fields))
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil { // the brace
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		key := fmt.Sprint(name)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		var inside []*jsonField
		for i, f := range fields {
			if !strings.EqualFold(key, f.names[depth]) {
				continue
			}
			if found[i] {
				return &InvalidError{Field: f.dotted, Reason: fmt.Sprintf("the key %q occurs twice in one object, in whichever case of letters", shown.Cut(key))}
			}
			found[i] = true
			inside = append(inside, f)
		}
		if err := readJSON(value, depth+1, inside); err != nil {
			return err
		}
	}
	return nil
}

// read reads the field's own value.
func (f *jsonField) read(raw []byte) error {
	if !f.list || raw[0] == 'n' {
		return f.readValue(raw)
	}
	if raw[0] != '[' {
		return &InvalidError{Field: f.dotted, Reason: "is not a list"}
	}
	var all []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	for _, item := range all {
		*f.value = JSONValue{}
		if err := f.readValue(item); err != nil {
			return err
		}
		if f.value.Null {
			return &InvalidError{Field: f.dotted, Reason: "has a null in its list"}
		}
		f.items = append(f.items, f.value.Text)
	}
	return nil
}

// readValue reads a text, a number or null.
func (f *jsonField) readValue(raw []byte) error {
	switch c := raw[0]; {
	case c == 'n':
		f.value.Null = true
		return nil
	case c == '"':
		text, err := JSONText(raw)
		if invalid, ok := errors.AsType[*InvalidError](err); ok {
			invalid.Field = f.dotted
		}
		*f.value = JSONValue{Text: text, OK: true}
		return err
	case c == '-' || '0' <= c && c <= '9':
		*f.value = JSONValue{Text: string(raw), OK: true}
		return nil
	default:
		return &InvalidError{Field: f.dotted, Reason: "is neither text nor a number"}
	}
}

// notInObject is the error of a value on the way to the field that is no object.
func (f *jsonField) notInObject(depth int) error {
	if depth == 0 {
		return &InvalidError{Reason: "the body is not a JSON object"}
	}
	return &InvalidError{Field: f.dotted, Reason: fmt.Sprintf("%q is not an object", strings.Join(f.names[:depth], "."))}
}
