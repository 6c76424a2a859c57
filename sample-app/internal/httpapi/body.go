package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/sample-app/internal/model"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// maxBody is the largest body, in bytes.
const maxBody = 1 << 20

// DefaultBodyTimeout is how long a client may take to send a body.
const DefaultBodyTimeout = 10 * time.Second

// readBody reads what a request brings, before anything is locked or waited for: whoever sends it
// bit by bit keeps nobody else waiting. The routes that want no body read it too, since net/http
// would do so while they answer.
func (a *api) readBody(c *gin.Context) {
	if c.FullPath() == "" || c.Request.ContentLength == 0 {
		return
	}
	if c.Request.ContentLength > maxBody {
		a.refuseUnread(c, &http.MaxBytesError{Limit: maxBody})
		return
	}
	// Where no deadline can be set, as in a test without a connection, there is nothing to wait for
	// either. net/http takes it back at the end of the body.
	_ = http.NewResponseController(c.Writer).SetReadDeadline(time.Now().Add(a.BodyTimeout))
	raw, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, maxBody))
	if err != nil {
		a.refuseUnread(c, unreadable(err))
		return
	}
	c.Request.Body = io.NopCloser(bytes.NewReader(raw))
}

// unreadable says in terms of the request why its body could not be read. The network's words have
// addresses in them.
func unreadable(err error) error {
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	switch {
	case tooLarge:
		return err
	case errors.Is(err, syscall.ECONNRESET):
		return fmt.Errorf("%w: %w", middleware.ErrClientGone, err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return middleware.NewProblem(http.StatusRequestTimeout, "request-timeout", "the body took too long to arrive")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &plans.InvalidError{Field: "body", Reason: "ends before all of it has been sent"}
	default:
		return &plans.InvalidError{Field: "body", Reason: "could not be read"}
	}
}

// refuseUnread answers a request whose body has not been read, and never will be: net/http closes
// the connection.
func (a *api) refuseUnread(c *gin.Context, err error) {
	if c.Request.ContentLength != 0 {
		c.Header("Connection", "close")
	}
	a.fail(c, err)
}

// bodyKey is where withBody leaves what it has read for the handler.
const bodyKey = "body"

// withBody checks a route's body, and hands it on unread to whoever wants it as it came.
func withBody[T any](a *api, read func(*fields) T) gin.HandlerFunc {
	return func(c *gin.Context) {
		raw, err := io.ReadAll(c.Request.Body)
		if err != nil {
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
		start := decoder.InputOffset()
		key, err := decoder.Token()
		if err != nil {
			return nil, malformed(err)
		}
		name, _ := key.(string)
		if hasLoneSurrogate(raw[start:decoder.InputOffset()]) {
			return nil, errors.New("has a field whose name is not valid Unicode: half of a surrogate pair is missing")
		}
		if _, twice := f.values[name]; twice {
			return nil, fmt.Errorf("has the field %q twice", name)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, malformed(err)
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

// malformed says where JSON is none.
func malformed(err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("is malformed JSON at byte %d", syntax.Offset)
	}
	return errors.New("is malformed JSON: it ends too early")
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
	if hasLoneSurrogate(f.values[name]) {
		f.invalid(name, "is not valid Unicode: half of a surrogate pair is missing")
	}
	if text == nil {
		return ""
	}
	if strings.ContainsRune(*text, 0) {
		f.invalid(name, "must not contain NUL, which PostgreSQL cannot store")
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
