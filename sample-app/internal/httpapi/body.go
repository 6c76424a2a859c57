package httpapi

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/sample-app/internal/model"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// maxBody is the largest body, in bytes.
const maxBody = 1 << 20

// readBody reads a request's body before anything is locked, so that a slow client keeps nobody
// else waiting. It also does so for routes that take no body: net/http would read it while they
// answer.
//
// The body has to be uncompressed JSON. A form on a page of another site can send other types, and
// they could be misread.
func (a *api) readBody(c *gin.Context) {
	if c.FullPath() == "" || c.Request.ContentLength == 0 {
		return // another answer is due, or there is no body
	}
	for _, coding := range c.Request.Header.Values("Content-Encoding") {
		if coding != "" && !strings.EqualFold(coding, "identity") {
			a.refuseUnread(c, middleware.NewProblem(http.StatusUnsupportedMediaType, "unsupported-media-type",
				"the body has to be sent as it is: without the header Content-Encoding"))
			return
		}
	}
	if _, err := a.locks.ReadJSON(c); err != nil {
		a.refuseUnread(c, unreadable(err))
	}
}

// unreadable says in terms of the request why its body could not be read. A client that ends the
// body early gets an answer, since it may have closed only its half of the connection.
func unreadable(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return &plans.InvalidError{Field: "body", Reason: "ends before all of it has been sent"}
	}
	return ofBody(err)
}

// ofBody names the body as the field of an error that names none.
func ofBody(err error) error {
	invalid, ok := errors.AsType[*lockspec.InvalidError](err)
	if !ok || invalid.Field != "" {
		return err
	}
	return &lockspec.InvalidError{Field: "body", Reason: invalid.Reason, Err: invalid.Err}
}

// refuseUnread answers a request whose body nobody will read, and so has net/http close the
// connection.
func (a *api) refuseUnread(c *gin.Context, err error) {
	if c.Request.ContentLength != 0 {
		c.Header("Connection", "close")
	}
	a.fail(c, err)
}

// bodyKey is the key under which withBody hands the body to the handler.
const bodyKey = "body"

// withBody checks a route's body. The spec can still read it.
func withBody[T any](a *api, read func(*fields) T) gin.HandlerFunc {
	return func(c *gin.Context) {
		raw, err := a.locks.ReadJSON(c)
		if err != nil {
			a.fail(c, err)
			return
		}
		f, err := parseFields(raw)
		if err != nil {
			a.fail(c, ofBody(err))
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

// fields are the fields of a JSON object by their exact names. encoding/json would take "NAME" for
// the field "name" of a struct.
type fields struct {
	values map[string]json.RawMessage
	// err is the first fault found in a field.
	err error
}

// parseFields reads an object. lockspec refuses text that two parsers could read differently, such
// as a key that occurs twice: a request could then lock one name and write another.
func parseFields(raw []byte) (*fields, error) {
	if _, err := lockspec.JSONFields(raw); err != nil {
		return nil, err
	}
	f := &fields{}
	if json.Unmarshal(raw, &f.values) != nil || f.values == nil {
		return nil, &lockspec.InvalidError{Reason: "the body is not a JSON object"}
	}
	return f, nil
}

// invalid records a fault, if it is the first.
func (f *fields) invalid(name, reason string) {
	if f.err == nil {
		f.err = &plans.InvalidError{Field: name, Reason: reason}
	}
}

// has reports whether the object has a field.
func (f *fields) has(name string) bool { return f.values[name] != nil }

// name reads the field "name", which has to be a valid name of a node.
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

// text reads a text, which is empty if the field is missing.
func (f *fields) text(name string) string {
	if !f.has(name) {
		return ""
	}
	text, err := lockspec.JSONText(f.values[name])
	if invalid, ok := errors.AsType[*lockspec.InvalidError](err); ok {
		f.invalid(name, invalid.Reason)
	}
	if strings.ContainsRune(text, 0) {
		f.invalid(name, "must not contain NUL, which PostgreSQL cannot store")
	}
	return text
}

// id reads a field that has to be an id.
func (f *fields) id(name string) int64 {
	value := parsed(string(f.values[name]))
	switch {
	case !f.has(name):
		f.invalid(name, "is missing")
	case value == 0:
		f.invalid(name, "must be a positive integer")
	}
	return value
}

// The bodies that the routes take.
type (
	nameBody struct{ Name string }
	// placeBody is the new parent of a suite or case. Copies and new ones have a name, too.
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
