package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/sample-app/internal/model"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// maxBody is the largest body, in bytes.
const maxBody = 1 << 20

// limitBody keeps anybody from sending more than maxBody.
func (a *api) limitBody(c *gin.Context) {
	if c.Request.ContentLength > maxBody {
		a.fail(c, &http.MaxBytesError{Limit: maxBody})
		return
	}
	if c.Request.Body != nil {
		c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxBody)
	}
}

// bodyKey is where withBody leaves what it has read for the handler.
const bodyKey = "body"

// withBody reads and checks a route's body, and hands it on unread to whoever wants it as it came.
func withBody[T any](a *api, read func(*fields) T) gin.HandlerFunc {
	return func(c *gin.Context) {
		raw, err := io.ReadAll(c.Request.Body)
		if err != nil {
			if _, tooLarge := errors.AsType[*http.MaxBytesError](err); !tooLarge {
				err = &plans.InvalidError{Field: "body", Reason: "could not be read: " + err.Error()}
			}
			a.fail(c, err)
			return
		}
		c.Request.Body = io.NopCloser(bytes.NewReader(raw))
		f, err := parseFields(raw)
		if err != nil {
			a.fail(c, &plans.InvalidError{Field: "body", Reason: err.Error()})
			return
		}
		body := read(f)
		if f.err != nil {
			a.fail(c, f.err)
			return
		}
		c.Set(bodyKey, body)
	}
}

// bodyOf returns what withBody has read.
func bodyOf[T any](c *gin.Context) T { return c.MustGet(bodyKey).(T) }

// fields are those of a JSON object, by their exact names. encoding/json by
// itself would take "NAME" for "name", and the last one of several: the name that is
// locked and the name that is written could then differ.
type fields struct {
	values map[string]json.RawMessage
	// err is the first thing that was wrong with a field.
	err error
}

// parseFields reads an object of which nothing else follows.
func parseFields(raw []byte) (*fields, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("is not valid UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return nil, errors.New("is not a JSON object")
	}
	f := &fields{values: map[string]json.RawMessage{}}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, fmt.Errorf("is malformed JSON: %w", err)
		}
		name, _ := key.(string)
		if _, twice := f.values[name]; twice {
			return nil, fmt.Errorf("has the field %q twice", name)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, fmt.Errorf("is malformed JSON: %w", err)
		}
		f.values[name] = value
	}
	if _, err := decoder.Token(); err != nil {
		return nil, errors.New("is malformed JSON: it ends too early")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("is malformed JSON: something follows the object")
	}
	return f, nil
}

// invalid keeps the first thing that is wrong.
func (f *fields) invalid(name, reason string) {
	if f.err == nil {
		f.err = &plans.InvalidError{Field: name, Reason: reason}
	}
}

// has reports whether the object has a field.
func (f *fields) has(name string) bool { return f.values[name] != nil }

// name reads the field "name", which has to be a node's.
func (f *fields) name() string {
	if !f.has("name") {
		f.invalid("name", "is missing")
		return ""
	}
	text := f.text("name")
	if err := model.CheckName(text); err != nil {
		f.invalid("name", err.Error())
	}
	return text
}

// text reads a text; a field that is not there is empty.
func (f *fields) text(name string) string {
	var text *string
	if f.has(name) && (json.Unmarshal(f.values[name], &text) != nil || text == nil) {
		f.invalid(name, "must be a string")
	}
	if text == nil {
		return ""
	}
	return *text
}

// id reads a field that has to be an id.
func (f *fields) id(name string) int64 {
	switch value := parsed(string(f.values[name])); {
	case !f.has(name):
		f.invalid(name, "is missing")
	case value == 0:
		f.invalid(name, "must be a positive integer")
	default:
		return value
	}
	return 0
}

// The bodies that the routes take.
type (
	nameBody struct{ Name string }
	// placeBody says where a suite or case is to go, and for a copy and a new one under which name.
	placeBody struct {
		Parent int64
		Name   string
	}
	caseBody struct{ Name, Body string }
)

func readName(f *fields) nameBody { return nameBody{f.name()} }

func readParent(f *fields) placeBody { return placeBody{Parent: f.id("parent_id")} }

func readParentAndName(f *fields) placeBody { return placeBody{f.id("parent_id"), f.name()} }

func readSuite(f *fields) placeBody { return placeBody{Parent: f.id("suite_id")} }

func readSuiteAndName(f *fields) placeBody { return placeBody{f.id("suite_id"), f.name()} }

func readCase(f *fields) caseBody { return caseBody{f.name(), f.text("body")} }

func readCaseChange(f *fields) plans.CaseChange {
	var change plans.CaseChange
	if f.has("name") {
		name := f.name()
		change.Name = &name
	}
	if f.has("body") {
		body := f.text("body")
		change.Body = &body
	}
	if change.Name == nil && change.Body == nil {
		f.invalid("name", "or body is missing")
	}
	return change
}
