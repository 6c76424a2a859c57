// Package readahead reads the body of a request before the work on it begins, and leaves it unread.
// So nobody waits for that work while a client sends its body byte by byte.
package readahead

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"reflect"
	"time"
)

var (
	// ErrTimeout: the body took too long to arrive.
	ErrTimeout = errors.New("readahead: the body took too long to arrive")
	// ErrTooLarge: the body is longer than what was to be read of it.
	ErrTooLarge = errors.New("readahead: the body is too large")
)

// Body is a body of which the first part has been read. Its reader does not notice.
type Body struct {
	ahead bytes.Buffer
	err   error // what came after that part, nil if there is more to come
	rest  io.ReadCloser
}

// Read reads the body of r, which w answers, up to a limit in bytes, and makes it a [Body]. A body
// that is known to be longer stays unread, since most of it would be waited for in any case, and so
// does the rest of one that turns out to be longer.
//
// The wait for it is bounded if the timeout is positive, the connection takes read deadlines and
// the server has no limit of its own. The error is ErrTimeout if either bound is reached. Then the
// bound stays, and the connection is closed after the answer: the rest of the body would look like
// another request.
func Read(w http.ResponseWriter, r *http.Request, limit int64, timeout time.Duration) error {
	if r.Body == nil || r.Body == http.NoBody || r.Method == http.MethodConnect {
		return nil
	}
	if b, ok := r.Body.(*Body); ok && (b.err != nil || int64(b.ahead.Len()) > limit) {
		return nil
	}
	b := &Body{rest: r.Body}
	if r.ContentLength <= limit {
		lift := bound(w, r, timeout)
		_, b.err = b.ahead.ReadFrom(io.LimitReader(r.Body, limit+1))
		if isTimeout(b.err) {
			w.Header().Set("Connection", "close")
			return ErrTimeout
		}
		lift()
		if b.err == nil && int64(b.ahead.Len()) <= limit {
			b.err = io.EOF
		}
	}
	r.Body = b
	return nil
}

// Bytes returns the body, as far as nobody has read it. The error is [ErrTooLarge], unless all of
// it was read ahead, or that of the read.
func (b *Body) Bytes() ([]byte, error) {
	switch {
	case b.err == nil:
		return nil, ErrTooLarge
	case !errors.Is(b.err, io.EOF):
		return nil, b.err
	}
	return b.ahead.Bytes(), nil
}

// Read implements [io.Reader].
func (b *Body) Read(p []byte) (int, error) {
	switch {
	case b.ahead.Len() > 0:
		return b.ahead.Read(p)
	case b.err != nil:
		return 0, b.err
	}
	return b.rest.Read(p)
}

// Close implements [io.Closer].
func (b *Body) Close() error { return b.rest.Close() }

// bound sets the time until which the body may be waited for. It returns a function that lifts the
// bound.
func bound(w http.ResponseWriter, r *http.Request, timeout time.Duration) (lift func()) {
	server, ok := r.Context().Value(http.ServerContextKey).(*http.Server)
	if timeout <= 0 || ok && server.ReadTimeout > 0 {
		return func() {}
	}
	for ; w != nil; w = embedded(w) {
		connection := http.NewResponseController(w)
		if connection.SetReadDeadline(time.Now().Add(timeout)) == nil {
			return func() { _ = connection.SetReadDeadline(time.Time{}) }
		}
	}
	return func() {}
}

// embedded returns the writer that a struct embeds, nil if it embeds none. Programs wrap
// [gin.ResponseWriter], which has no Unwrap, in this way.
func embedded(w http.ResponseWriter) http.ResponseWriter {
	wrapper := reflect.Indirect(reflect.ValueOf(w))
	if wrapper.Kind() != reflect.Struct {
		return nil
	}
	field := wrapper.FieldByName("ResponseWriter")
	if !field.IsValid() || !field.CanInterface() {
		return nil
	}
	inner, _ := field.Interface().(http.ResponseWriter)
	return inner
}

// isTimeout reports whether a read has ended by a deadline.
func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout() || errors.Is(err, os.ErrDeadlineExceeded)
}
