package middleware

import (
	"bytes"
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
type values struct {
	c       *gin.Context
	maxBody int64
	body    []byte
	read    bool
	form    *http.Request
	// fields are the JSON fields that have been asked for: the second look at a node asks again.
	fields map[string]field
}

// field is what [lockspec.JSONField] says of a field.
type field struct {
	value string
	ok    bool
	err   error
}

func newValues(c *gin.Context, maxBody int64) *values {
	return &values{c: c, maxBody: maxBody, fields: make(map[string]field)}
}

// get is the first function that [lockspec.Spec.Bind] wants.
func (v *values) get(src lockspec.Source) (value string, ok bool, err error) {
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
		return src.Extract(v.c.Request, v.c.Param)
	case lockspec.FromJSON:
		if err := v.readBody(); err != nil {
			return "", false, err
		}
		f, known := v.fields[src.Name()]
		if !known {
			f.value, f.ok, f.err = lockspec.JSONField(v.body, src.Name())
			v.fields[src.Name()] = f
		}
		return f.value, f.ok, f.err
	case lockspec.FromForm:
		if err := v.parseForm(); err != nil {
			return "", false, err
		}
		values := v.form.PostForm[src.Name()]
		if len(values) == 0 {
			return "", false, nil
		}
		return values[0], true, nil
	default:
		return "", false, fmt.Errorf("middleware: there is no way to get a %s", src)
	}
}

// readBody reads the body once, and puts back what it read.
func (v *values) readBody() error {
	if v.read {
		return nil
	}
	r := v.c.Request
	if r.ContentLength > v.maxBody {
		return &TooLargeError{v.maxBody}
	}
	if r.Body != nil {
		body, err := io.ReadAll(http.MaxBytesReader(v.c.Writer, r.Body, v.maxBody))
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return &TooLargeError{v.maxBody}
		}
		if err != nil {
			return &lockspec.InvalidError{Reason: "the body could not be read", Err: err}
		}
		v.body = body
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	v.read = true
	return nil
}

// parseForm reads the body as a form, in a request of its own: the handler's keeps
// its body.
func (v *values) parseForm() error {
	if v.form != nil {
		return nil
	}
	if err := v.readBody(); err != nil {
		return err
	}
	form := v.c.Request.Clone(v.c.Request.Context())
	form.Body = io.NopCloser(bytes.NewReader(v.body))
	// The whole body is in memory already, so its files may stay there too.
	err := form.ParseMultipartForm(v.maxBody)
	if err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return &lockspec.InvalidError{Reason: "the form is malformed: " + err.Error(), Err: err}
	}
	v.form = form
	return nil
}
