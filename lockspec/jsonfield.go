package lockspec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// MaxJSONDepth is how deep the objects and arrays of a body may nest for
// [JSONField].
const MaxJSONDepth = 100

// JSONField finds a field of a JSON body by the dotted names of the objects and
// fields on the way to it. It returns the text of a string, or the literal text
// of a number, so that no id is rounded: whether "1e3" is an id is for the
// resolver to say. It returns false where the field, or an object on the way,
// is missing or null.
//
// The lock has to be on the node that the handler will work on, so that
// wherever the handler's decoder could read the body in another way the answer
// is an [*InvalidError]. As in [encoding/json], a key also matches in another
// case of letters; it is an error if two keys match in one object, of which
// decoders take one or the other. So are, anywhere in the body, a key that
// occurs twice in an object, invalid UTF-8, a syntax error, anything behind the
// JSON value, and nesting deeper than [MaxJSONDepth]; and a field that is
// neither text nor a number.
func JSONField(body []byte, dotted string) (value string, ok bool, err error) {
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return "", false, &InvalidError{Reason: "the body is empty, and should be JSON"}
	case !utf8.Valid(body):
		return "", false, &InvalidError{Reason: "the body is not valid UTF-8"}
	}
	w := jsonWalk{dec: json.NewDecoder(bytes.NewReader(body)), field: dotted, names: strings.Split(dotted, ".")}
	w.dec.UseNumber()
	if err := w.next(0, true); err != nil {
		return "", false, err
	}
	if _, err := w.dec.Token(); !errors.Is(err, io.EOF) {
		return "", false, &InvalidError{Reason: "the body has something behind the JSON value"}
	}
	return w.value, w.found, w.wrong
}

// jsonWalk goes once through a body and remembers the one field.
type jsonWalk struct {
	dec   *json.Decoder
	field string
	names []string
	value string
	found bool
	// wrong is what is wrong with the field. The body as a whole is looked at
	// first: that it is not JSON at all is the better answer.
	wrong error
}

// next reads one value, depth objects and arrays below the top. If onWay is
// set, it is the one that the first depth names lead to.
func (w *jsonWalk) next(depth int, onWay bool) error {
	token, err := w.dec.Token()
	if err != nil {
		return malformed(err)
	}
	target := onWay && depth == len(w.names)
	switch t := token.(type) {
	case nil:
	case json.Delim:
		if depth >= MaxJSONDepth {
			return &InvalidError{Reason: fmt.Sprintf("the body nests deeper than %d", MaxJSONDepth)}
		}
		if target || onWay && t == '[' {
			w.mismatch(depth, target)
			onWay = false
		}
		if t == '[' {
			return w.array(depth)
		}
		return w.object(depth, onWay)
	case string:
		w.scalar(t, depth, onWay, target)
	case json.Number:
		w.scalar(t.String(), depth, onWay, target)
	default:
		if onWay {
			w.mismatch(depth, target)
		}
	}
	return nil
}

// scalar takes a string or a number.
func (w *jsonWalk) scalar(text string, depth int, onWay, target bool) {
	switch {
	case target:
		w.value, w.found = text, true
	case onWay:
		w.mismatch(depth, target)
	}
}

// array reads the rest of an array.
func (w *jsonWalk) array(depth int) error {
	for w.dec.More() {
		if err := w.next(depth+1, false); err != nil {
			return err
		}
	}
	return w.end()
}

// object reads the rest of an object.
func (w *jsonWalk) object(depth int, onWay bool) error {
	seen := map[string]bool{}
	matched := false
	for w.dec.More() {
		token, err := w.dec.Token()
		if err != nil {
			return malformed(err)
		}
		key, ok := token.(string)
		if !ok {
			return &InvalidError{Reason: "malformed JSON: a key is not a string"}
		}
		matches := onWay && strings.EqualFold(key, w.names[depth])
		switch {
		case matches && matched:
			return &InvalidError{Field: w.field, Reason: fmt.Sprintf("the key %.80q occurs twice in one object, in whichever case of letters", key)}
		case seen[key]:
			return &InvalidError{Reason: fmt.Sprintf("the key %.80q occurs twice in one object", key)}
		}
		seen[key] = true
		matched = matched || matches
		if err := w.next(depth+1, matches); err != nil {
			return err
		}
	}
	return w.end()
}

// end reads the bracket that ends an array or an object.
func (w *jsonWalk) end() error {
	if _, err := w.dec.Token(); err != nil {
		return malformed(err)
	}
	return nil
}

// mismatch notes that what is found on the way is not of the type that it
// should be.
func (w *jsonWalk) mismatch(depth int, target bool) {
	switch {
	case target:
		w.wrong = &InvalidError{Field: w.field, Reason: "is neither text nor a number"}
	case depth == 0:
		w.wrong = &InvalidError{Reason: "the body is not a JSON object"}
	default:
		w.wrong = &InvalidError{Field: w.field, Reason: fmt.Sprintf("%q is not an object", strings.Join(w.names[:depth], "."))}
	}
}

// malformed says that a body is not JSON.
func malformed(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return &InvalidError{Reason: "malformed JSON: " + err.Error(), Err: err}
}
