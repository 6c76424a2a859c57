package lockspec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/internal/shown"
	"github.com/pathlock-go/pathlock/internal/web"
)

// JSONValues returns a source's value in a JSON body, as [Spec.Read] expects it: the text of a
// string, or the literal text of a number. So no id is rounded, and the resolver decides whether
// "1e3" is an id. A [Source.Each] has to be an array of them. JSONValues returns none if the field,
// or an object on the way to it, is missing, and [ErrNull] if the field is null.
//
// The lock must be on the node that the handler works on. So the error is an [*InvalidError]
// wherever the handler's decoder might read the field differently. These are errors, beside those
// of [CheckJSON]:
//
//   - a key that differs from the name only in letter case: a struct takes it, a map does not
//   - a key that gin takes for the name when it is built with its tag jsoniter or go_json
//   - in one object, two keys that each are the name or one of these
//   - half of a surrogate pair ("\ud83d") in a field, which decoders silently replace by U+FFFD
//   - a field that is neither text nor a number nor null
func JSONValues(body []byte, src Source) ([]string, error) {
	if err := CheckJSON(body); err != nil {
		return nil, err
	}
	refuse := func(format string, args ...any) error {
		return &InvalidError{Field: src.name, Reason: fmt.Sprintf(format, args...)}
	}
	value := bytes.TrimSpace(body)
	names := strings.Split(src.name, ".")
	for depth, name := range names {
		switch {
		case value[0] == 'n':
			return nil, nil
		case value[0] != '{' && depth == 0:
			return nil, &InvalidError{Reason: "the body is not a JSON object"}
		case value[0] != '{':
			return nil, refuse("%q is not an object", strings.Join(names[:depth], "."))
		}
		var wrong string
		if value, wrong = member(value, name); wrong != "" {
			return nil, refuse("%s", wrong)
		}
		if value == nil {
			return nil, nil
		}
	}
	if value[0] == 'n' {
		return nil, ErrNull
	}
	items := []json.RawMessage{value}
	if src.each && json.Unmarshal(value, &items) != nil {
		return nil, refuse("is not a list")
	}
	var texts []string
	for _, item := range items {
		text, wrong := scalar(item)
		if wrong != "" {
			return nil, refuse("%s", wrong)
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// CheckJSON returns an [*InvalidError] for a body that is not one JSON value in valid UTF-8, and
// says where it is malformed.
func CheckJSON(body []byte) error {
	switch {
	case !utf8.Valid(body):
		return &InvalidError{Reason: "the body is not valid UTF-8"}
	case len(bytes.TrimSpace(body)) == 0:
		return &InvalidError{Reason: "the body is empty, and should be JSON"}
	case json.Valid(body):
		return nil
	}
	at := len(body)
	if syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(body, new(json.RawMessage))); ok {
		at = int(syntax.Offset)
	}
	return &InvalidError{Reason: fmt.Sprintf("malformed JSON near byte %d", at)}
}

// member returns an object's value for a name, nil if it has none, or what is wrong with a key that
// matches the name. The object is valid JSON.
func member(object []byte, name string) (value json.RawMessage, wrong string) {
	dec := json.NewDecoder(bytes.NewReader(object))
	_, _ = dec.Token() // the brace
	for dec.More() {
		_, written, _ := bytes.Cut(object[dec.InputOffset():], []byte(`"`))
		token, _ := dec.Token()
		key, _ := token.(string)
		var one json.RawMessage
		_ = dec.Decode(&one)
		switch {
		case !isTaken(key, written, name):
			continue
		case value != nil:
			return nil, fmt.Sprintf("the key %q occurs twice in one object, regardless of letter case", shown.Cut(key))
		case key != name:
			return nil, fmt.Sprintf("the key %q must be spelt %q", shown.Cut(key), shown.Cut(name))
		}
		value = one
	}
	return value, ""
}

// isTaken reports whether any of gin's decoders, see its build tags, takes a key for a name.
// written begins with the key as it was sent.
func isTaken(key string, written []byte, name string) bool {
	plain := bytes.IndexAny(written, `\"`)
	lowered, lower := strings.ToLower(key), strings.ToLower(name)
	return strings.EqualFold(lowered, name) || // some fold letters, such as ſ to s, others lower them, such as İ to i
		written[plain] == '\\' && strings.HasPrefix(lower, lowered) || // go-json counts an escape as six letters
		hashOf(hashOf(hashBasis, written[:plain]), []rune(key[plain:])) == hashOf(hashBasis, []byte(lower)) // jsoniter
}

// hashBasis is the hash of an empty key.
const hashBasis = 0x811c9dc5

// hashOf is jsoniter's only key to a field of a struct, and clients can forge it. It covers the
// bytes before the first escape of a key, and the characters from there on. hash is that of what
// comes before.
func hashOf[C byte | rune](hash int64, key []C) int64 {
	for _, c := range key {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		hash = (hash ^ int64(c)) * 0x1000193
	}
	return hash
}

// scalar returns the text of a string or a number, or what is wrong with a value.
func scalar(value []byte) (text, wrong string) {
	switch c := value[0]; {
	case c == '-' || '0' <= c && c <= '9':
		return string(value), ""
	case c != '"':
		return "", "is neither text nor a number"
	case web.HasHalfPair(value):
		return "", "has half of a surrogate pair, which is no character"
	}
	_ = json.Unmarshal(value, &text)
	return text, ""
}
