package middleware

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"reflect"
	"time"

	"github.com/gin-gonic/gin"
)

// firstBytes bounds the room for a body before any of it has come, because a client can announce
// any length at no cost.
const firstBytes = 16 << 10

// readAhead reads the request's body before anything is locked, up to [Config.MaxBody]. So nobody
// waits for locks while a client sends it byte by byte. The handler reads it as if it had not been
// read. A body that is known to be longer stays unread, and so does the rest of one that turns out
// to be longer.
func (m *Locks) readAhead(c *gin.Context) error {
	r := c.Request
	if r.Body == nil || r.Body == http.NoBody || r.Method == http.MethodConnect || m.config.BodyTimeout < 0 {
		return nil
	}
	// Of a body that is known to be longer, most would come under the locks in any case.
	if _, done := r.Body.(*readBody); done || r.ContentLength > m.config.MaxBody {
		return nil
	}
	unlimited := limitReading(c, m.config.BodyTimeout)
	room := int64(bytes.MinRead)
	if r.ContentLength >= 0 {
		room = min(r.ContentLength+1, firstBytes)
	}
	data := make([]byte, 0, room)
	var err error
	for err == nil && int64(len(data)) <= m.config.MaxBody {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		var n int
		n, err = r.Body.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		// The rest of the body would look like another request.
		c.Header("Connection", "close")
		return unreadBody(r.Context(), err)
	}
	unlimited()
	r.Body = &readBody{data: data, err: err, rest: r.Body}
	return nil
}

// limitReading bounds the wait for the request's body, if the connection takes deadlines and the
// server has no limit of its own. It returns a function that lifts the bound.
func limitReading(c *gin.Context, timeout time.Duration) (lift func()) {
	none := func() {}
	if s, ok := c.Request.Context().Value(http.ServerContextKey).(*http.Server); ok && s.ReadTimeout > 0 {
		return none
	}
	connection := deadlines(c.Writer)
	if connection == nil || connection.SetReadDeadline(time.Now().Add(timeout)) != nil {
		return none
	}
	return func() { _ = connection.SetReadDeadline(time.Time{}) }
}

// deadlined is a connection that takes read deadlines.
type deadlined interface{ SetReadDeadline(time.Time) error }

// deadlines returns the connection of a response, as [http.ResponseController] finds it. It returns
// nil if the connection takes no deadlines.
func deadlines(w http.ResponseWriter) deadlined {
	for {
		switch inner := w.(type) {
		case deadlined:
			return inner
		case interface{ Unwrap() http.ResponseWriter }:
			w = inner.Unwrap()
		default:
			if w = embedded(w); w == nil {
				return nil
			}
		}
	}
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

// readBody is a body of which the first part has been read.
type readBody struct {
	data []byte
	next int   // the first byte of data that the handler has not read
	err  error // what came after data, nil if there is more to come
	rest io.ReadCloser
}

// complete returns the body if all of it has come and the handler has read nothing of it.
func (b *readBody) complete() (data []byte, ok bool) {
	return b.data, errors.Is(b.err, io.EOF) && b.next == 0
}

// Read implements [io.Reader].
func (b *readBody) Read(p []byte) (int, error) {
	if b.next < len(b.data) {
		n := copy(p, b.data[b.next:])
		b.next += n
		return n, nil
	}
	if b.err != nil {
		return 0, b.err
	}
	return b.rest.Read(p)
}

// Close implements [io.Closer].
func (b *readBody) Close() error { return b.rest.Close() }
