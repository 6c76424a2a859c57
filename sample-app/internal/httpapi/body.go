package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/shown"
	"github.com/pathlock-go/pathlock/internal/web"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// maxBody is the largest body, in bytes.
const maxBody = 1 << 20

// readBody reads a request's body before anything is locked, so that a slow client keeps nobody
// else waiting. It also does so for routes that take no body: net/http would read it while they
// answer.
//
// The body has to be JSON. A form on a page of another site can send other types, and they could be
// misread.
func (a *api) readBody(c *gin.Context) {
	if c.FullPath() == "" || c.Request.ContentLength == 0 {
		return // another answer is due, or there is no body
	}
	_, err := a.locks.ReadJSON(c)
	if errors.Is(err, io.ErrUnexpectedEOF) { // the client may have closed only its half of the connection
		err = &plans.InvalidError{Field: "body", Reason: "ends before all of it has been sent"}
	}
	if err != nil {
		a.refuseUnread(c, ofBody(err))
	}
}

// ofBody names the body as the field of an error that names none.
func ofBody(err error) error {
	invalid, ok := errors.AsType[*lockspec.InvalidError](err)
	if !ok || invalid.Field != "" {
		return err
	}
	return &lockspec.InvalidError{Field: "body", Reason: invalid.Reason, Err: invalid.Err}
}

// refuseUnread answers a request whose body nobody needs, and so has net/http close the connection.
// It first takes the body in, for as long as the server lets it arrive, unless the client asks
// before it sends: a client that sends all before it reads would find the connection broken, and
// get no answer.
func (a *api) refuseUnread(c *gin.Context, err error) {
	if c.Request.ContentLength != 0 {
		c.Header("Connection", "close")
		if c.GetHeader("Expect") == "" {
			_, _ = io.Copy(io.Discard, c.Request.Body)
		}
	}
	a.fail(c, err)
}

// parsed returns the id that text spells, and 0 for any other text. Signs and leading zeros are
// refused, so that an id has one spelling.
func parsed(text string) int64 {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || text[0] < '1' || text[0] > '9' {
		return 0
	}
	return id
}

// input is what bodies have, each of them some of it.
type input struct {
	name, body, note string
	parent           int64
	lasts            time.Duration
	change           plans.CaseChange
	names            plans.Import
}

// Bounds of how long a suite's lock lasts. A client may refresh it any number of times.
const (
	minSuiteLock = time.Second
	maxSuiteLock = time.Hour
)

// parse reads the fields of a body that a route takes.
func parse(raw []byte, takes string) (in input, err error) {
	f, err := parseFields(raw)
	if err != nil {
		return in, ofBody(err)
	}
	for field := range strings.FieldsSeq(takes) {
		switch field {
		case "name":
			in.name = f.name()
		case "body":
			in.body = f.text(field)
		case "parent_id", "suite_id":
			in.parent = f.id(field)
		case "for":
			in.lasts = f.duration(field)
		case "note":
			if in.note = f.text(field); len(in.note) > pathlock.MaxNoteBytes {
				f.invalid(field, fmt.Sprintf("is %d bytes long, at most %d are allowed", len(in.note), pathlock.MaxNoteBytes))
			}
		case "change":
			in.change = f.caseChange()
		case "names":
			in.names = f.names()
		}
	}
	return in, f.err
}

// fields are the fields of a JSON object by their exact names. encoding/json would take "NAME" for
// the field "name" of a struct.
type fields struct {
	body   []byte
	values map[string]json.RawMessage
	// err is the first fault found in a field.
	err error
}

// parseFields reads an object. It refuses text that two parsers could read differently, such as a
// key that occurs twice: a request could then lock one name and write another.
func parseFields(raw []byte) (*fields, error) {
	if err := lockspec.CheckJSON(raw); err != nil {
		return nil, err
	}
	f := &fields{body: raw}
	if json.Unmarshal(raw, &f.values) != nil || f.values == nil {
		return nil, &lockspec.InvalidError{Reason: "the body is not a JSON object"}
	}
	if key, found := twice(json.NewDecoder(bytes.NewReader(raw))); found {
		return nil, &lockspec.InvalidError{Field: shown.Cut(key), Reason: fmt.Sprintf("the key %q occurs twice in one object, regardless of letter case", shown.Cut(key))}
	}
	return f, nil
}

// twice reads a value, and finds a key that occurs twice in one object of it.
func twice(value *json.Decoder) (key string, found bool) {
	start, _ := value.Token()
	if start != json.Delim('{') && start != json.Delim('[') {
		return "", false
	}
	seen := map[string]bool{}
	for value.More() {
		if start == json.Delim('{') {
			token, _ := value.Token()
			key, _ = token.(string)
			folded := strings.ToLower(key)
			if seen[folded] {
				return key, true
			}
			seen[folded] = true
		}
		if key, found = twice(value); found {
			return key, true
		}
	}
	_, _ = value.Token() // the end
	return "", false
}

// invalid records a fault, if it is the first.
func (f *fields) invalid(name, reason string) {
	if f.err == nil {
		f.err = &plans.InvalidError{Field: name, Reason: reason}
	}
}

// has reports whether the object has a field.
func (f *fields) has(name string) bool { return f.values[name] != nil }

// required records a fault if the object lacks a field.
func (f *fields) required(name string) bool {
	if !f.has(name) {
		f.invalid(name, "is missing")
	}
	return f.has(name)
}

// name reads the field "name", which has to be a valid name of a node.
func (f *fields) name() (text string) {
	if f.required("name") {
		text = f.text("name")
		if err := plans.CheckName(text); err != nil {
			f.invalid("name", err.Error())
		}
	}
	return text
}

// text reads a text, which is empty if the field is missing.
func (f *fields) text(name string) string {
	if !f.has(name) {
		return ""
	}
	if f.values[name][0] != '"' {
		f.invalid(name, "is not a text")
		return ""
	}
	texts, err := lockspec.JSONValues(f.body, lockspec.JSON(name))
	if invalid, ok := errors.AsType[*lockspec.InvalidError](err); ok {
		f.invalid(name, invalid.Reason)
		return ""
	}
	f.storable(name, texts[0])
	return texts[0]
}

// storable records a fault if not every database can store a text.
func (f *fields) storable(name, text string) {
	if strings.ContainsRune(text, 0) {
		f.invalid(name, "must not contain NUL, which PostgreSQL cannot store")
	}
}

// id reads a field that has to be an id.
func (f *fields) id(name string) int64 {
	value := parsed(string(f.values[name]))
	if f.required(name) && value == 0 {
		f.invalid(name, "must be a positive integer")
	}
	return value
}

// duration reads a field that says how long a suite's lock lasts.
func (f *fields) duration(name string) time.Duration {
	if !f.required(name) {
		return 0
	}
	d, err := time.ParseDuration(f.text(name))
	switch {
	case err != nil:
		f.invalid(name, `must be a duration such as "10m" or "90s"`)
	case d < minSuiteLock || d > maxSuiteLock:
		f.invalid(name, fmt.Sprintf("must be at least %v and at most %v", minSuiteLock, maxSuiteLock))
	}
	return d
}

// caseChange reads a name, a body, or both.
func (f *fields) caseChange() (change plans.CaseChange) {
	if f.has("name") {
		change.Name = new(f.name())
	}
	if f.has("body") {
		change.Body = new(f.text("body"))
	}
	if change == (plans.CaseChange{}) {
		f.invalid("name", "or body is missing")
	}
	return change
}

// names reads the paths of suites and cases. No lock depends on how they are spelt.
func (f *fields) names() (names plans.Import) {
	f.list("suites", &names.Suites, "texts")
	f.list("cases", &names.Cases, "objects with a path and a body")
	f.storable("suites", strings.Join(names.Suites, ""))
	for _, c := range names.Cases {
		f.storable("cases", c.Path)
		f.storable("cases", c.Body)
	}
	if len(names.Suites)+len(names.Cases) == 0 {
		f.invalid("suites", "or cases are missing")
	}
	return names
}

// list reads a field that has to be an array of the kind named.
func (f *fields) list(name string, into any, kind string) {
	switch raw := f.values[name]; {
	case f.has(name) && json.Unmarshal(raw, into) != nil:
		f.invalid(name, "must be an array of "+kind)
	case web.HasHalfPair(raw):
		f.invalid(name, "has half of a surrogate pair, which is no character")
	}
}
