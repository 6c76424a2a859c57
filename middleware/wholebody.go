package middleware

import (
	"errors"
	"fmt"
	"io"
	"net/http"
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
