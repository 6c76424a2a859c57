package middleware

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/internal/readlimit"
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
	unlimited := readlimit.Begin(c.Writer, r, m.config.BodyTimeout)
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
	if readlimit.Exceeded(err) {
		c.Header("Connection", "close")
		return unreadBody(r.Context(), err)
	}
	unlimited()
	r.Body = &readBody{data: data, err: err, rest: r.Body}
	return nil
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
