package middleware

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/lockspec"
)

// ErrTooLarge is matched when the body exceeds [Config.MaxBody]. The error is a [*TooLargeError].
var ErrTooLarge = errors.New("middleware: request body too large")

// TooLargeError says what the limit is. It matches [ErrTooLarge].
type TooLargeError struct {
	// Limit is in bytes.
	Limit int64
}

// Error implements error.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%v: at most %d bytes are allowed", ErrTooLarge, e.Limit)
}

// Unwrap returns [ErrTooLarge].
func (e *TooLargeError) Unwrap() error { return ErrTooLarge }

// values finds the values of sources in one request. The body is read when the first
// value in it is asked for, and handed on to the handler as if it had not been.
//
// A value is looked for once per request: it is the request's, and whatever else
// changes, the request does not. [lockspec.Spec.IDs] and [lockspec.Spec.Bind] ask for the values of
// a spec in the same order every time, so that they are known by their number.
type values struct {
	c         *gin.Context
	spec      lockspec.Spec
	jsonTypes []string
	maxBody   int64
	body      []byte
	read      bool
	json      map[string]lockspec.JSONValue
	form      *http.Request

	known []known
	next  int // the number of the value that is asked for next
}

// known is what was found for a source.
type known struct {
	value string
	ok    bool
	err   error
}

func newValues(c *gin.Context, spec lockspec.Spec, config *Config) *values {
	return &values{c: c, spec: spec, jsonTypes: config.JSONTypes, maxBody: config.MaxBody}
}

// rewind expects the values to be asked for again, from the first one.
func (v *values) rewind() { v.next = 0 }

// get is the first function that [lockspec.Spec.Bind] wants.
func (v *values) get(src lockspec.Source) (value string, ok bool, err error) {
	if v.next == len(v.known) {
		var k known
		k.value, k.ok, k.err = v.find(src)
		v.known = append(v.known, k)
	}
	k := v.known[v.next]
	v.next++
	return k.value, k.ok, k.err
}

// find looks for the value of a source.
func (v *values) find(src lockspec.Source) (value string, ok bool, err error) {
	switch src.From() {
	case lockspec.FromParam:
		value, ok = v.c.Params.Get(src.Name())
		return value, ok, nil
	case lockspec.FromQuery:
		value, ok = v.c.GetQuery(src.Name())
		return value, ok, nil
	case lockspec.FromHeader:
		values := v.c.Request.Header.Values(src.Name())
		if len(values) == 0 {
			return "", false, nil
		}
		return values[0], true, nil
	case lockspec.FromFunc:
		return src.Extract(withGinContext(v.c), v.c.Param)
	case lockspec.FromJSON:
		return v.jsonField(src.Name())
	case lockspec.FromForm:
		return v.formField(src.Name())
	default:
		return "", false, fmt.Errorf("middleware: there is no way to get a %s", src)
	}
}

// readBody reads the body once, and puts back what it read. Where middleware before this one has
// read it by [gin.Context.ShouldBindBodyWith], gin keeps it, and that is what every handler gets to
// read.
func (v *values) readBody() error {
	if v.read {
		return nil
	}
	r := v.c.Request
	if kept := keptBody(v.c); kept != nil {
		if int64(len(kept)) > v.maxBody {
			return &TooLargeError{v.maxBody}
		}
		v.body, v.read = kept, true
		r.Body = putBack(kept, r.Body)
		return nil
	}
	if r.ContentLength > v.maxBody {
		return &TooLargeError{v.maxBody}
	}
	if ahead, ok := r.Body.(*readBody); ok {
		if data, ok := ahead.complete(); ok && int64(len(data)) <= v.maxBody {
			v.body, v.read = data, true
			return nil
		}
	}
	if r.Body != nil {
		body, err := io.ReadAll(http.MaxBytesReader(v.c.Writer, r.Body, v.maxBody))
		if err != nil {
			return unreadBody(r.Context(), err)
		}
		v.body = body
		r.Body = putBack(body, r.Body)
	}
	v.read = true
	return nil
}
