package lockspec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
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
//   - half of a surrogate pair ("\ud83d") in a field, which decoders silently replace by U+FFFD
//   - invalid UTF-8, a syntax error, and anything behind the JSON value
//   - a field that is neither text nor a number nor null
func JSONFields(body []byte, dotted ...string) ([]JSONValue, error) {
	switch {
	case !utf8.Valid(body):
		return nil, &InvalidError{Reason: "the body is not valid UTF-8"}
	case len(bytes.TrimSpace(body)) == 0:
		return nil, &InvalidError{Reason: "the body is empty, and should be JSON"}
	}
	if !json.Valid(body) {
		return nil, malformed(body)
	}
	values := make([]JSONValue, len(dotted))
	fields := make([]*jsonField, len(dotted))
	for i, name := range dotted {
		fields[i] = &jsonField{dotted: name, names: strings.Split(name, "."), value: &values[i]}
	}
	if err := readJSON(body, 0, fields); err != nil {
		return nil, err
	}
	return values, nil
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
	if hasHalfPair(raw) {
		return "", &InvalidError{Reason: "has half of a surrogate pair, which is no character"}
	}
	var text string
	err := json.Unmarshal(raw, &text)
	return text, err
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
	for rest := raw[1:]; ; {
		var name, value []byte
		if rest = bytes.TrimLeft(rest, ", \t\r\n"); rest[0] == '}' {
			return nil
		}
		name, rest = cutJSON(rest)
		value, rest = cutJSON(bytes.TrimLeft(rest, ": \t\r\n"))
		var key string
		if err := json.Unmarshal(name, &key); err != nil {
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
}

// cutJSON cuts a value off the text that begins with it, in valid JSON.
func cutJSON(raw []byte) (value, rest []byte) {
	open := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			open++
			continue
		case '}', ']':
			open--
		default:
			if open > 0 || i+1 < len(raw) && !bytes.ContainsRune([]byte(",:]} \t\r\n"), rune(raw[i+1])) {
				continue
			}
		}
		if open == 0 {
			return raw[:i+1], raw[i+1:]
		}
	}
	return raw, nil
}

// read reads the field's own value.
func (f *jsonField) read(raw []byte) error {
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

// hasHalfPair reports whether valid JSON has an escaped half of a surrogate pair without the other.
func hasHalfPair(raw []byte) bool {
	for {
		at := bytes.IndexByte(raw, '\\')
		if at < 0 {
			return false
		}
		raw = raw[at:]
		r, isUnicode := escaped(raw)
		if !isUnicode {
			raw = raw[len(`\n`):]
			continue
		}
		raw = raw[len(`\u0000`):]
		if !utf16.IsSurrogate(r) {
			continue
		}
		second, _ := escaped(raw)
		if utf16.DecodeRune(r, second) == utf8.RuneError {
			return true
		}
		raw = raw[len(`\u0000`):]
	}
}

// escaped returns the UTF-16 unit that an escape at the beginning of raw stands for.
func escaped(raw []byte) (r rune, ok bool) {
	if !bytes.HasPrefix(raw, []byte(`\u`)) {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(unit), err == nil
}
