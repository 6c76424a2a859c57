package idempotency

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"

	"github.com/gin-gonic/gin"
)

// capture passes an answer on, and keeps a copy of it. A write that fails ends the client's
// context: net/http does that.
type capture struct {
	gin.ResponseWriter
	// client ends when the client goes away.
	client context.Context
	max    int
	// given are the headers that were there before the handler.
	given http.Header
	// sent are the handler's headers as they were before the first byte, nil before that. A writer
	// further out, such as one that compresses, may add its own then.
	sent http.Header
	body []byte
	size int64
	// incomplete is set if the copy is not what the client got.
	incomplete bool

	writes int
	// streamed says that the answer was sent in pieces on purpose.
	streamed bool
	// broken says that a failure occurred after another answer had begun.
	broken bool
	// late says that the request's context had ended before the first byte: the client was gone, or
	// a lock was lost or held for too long.
	late bool
	// request returns the context that the request has now.
	request func() context.Context
}

// newCapture returns a writer that copies up to max bytes of the answer to a request.
func newCapture(c *gin.Context, max int) *capture {
	return &capture{
		ResponseWriter: c.Writer, client: c.Request.Context(), max: max, given: c.Writer.Header().Clone(),
		request: func() context.Context { return c.Request.Context() },
	}
}

// begin records the headers before they are sent.
func (w *capture) begin() {
	if w.sent == nil {
		w.sent, w.late = w.Header().Clone(), w.request().Err() != nil
	}
}

// headers returns the headers that the handler has set. Outer middleware sets its own again for the
// repetition, and they may depend on it: a middleware that compresses heeds Accept-Encoding.
func (w *capture) headers() http.Header {
	w.begin()
	own := make(http.Header)
	for name, values := range w.sent {
		if before, ok := w.given[name]; !ok || !slices.Equal(before, values) {
			own[name] = values
		}
	}
	return own
}

// final reports whether the answer is the handler's last word. Somebody else answers a panic, and a
// middleware further out answers an error that was only added to gin's. An answer that a failure
// broke off does not count. If the client goes away, or the request loses its locks, the handler
// may answer nothing, a part, or a failure that only that caused. A status such as 204 is an
// answer, but 200 may come from a handler that says nothing.
func (w *capture) final(errors bool) bool {
	gone, failed, silent := w.client.Err() != nil, w.Status() >= http.StatusBadRequest, w.Status() == http.StatusOK
	switch {
	case w.broken, errors && w.size == 0 && (failed || silent), gone && !w.Written() && silent, (gone || w.late) && failed:
		return false
	default:
		return w.incomplete || w.whole()
	}
}

// whole reports whether the handler has written its whole answer, as far as one can tell. When the
// client goes away, many handlers stop half-way, and the part does not count. An answer that a
// handler wrote in one go, after the client had gone, does.
func (w *capture) whole() bool {
	w.begin()
	if declared := w.sent.Get("Content-Length"); declared != "" {
		return declared == strconv.FormatInt(w.size, 10)
	}
	if w.client.Err() != nil {
		return !w.streamed && (w.writes == 0 || w.writes == 1 && w.late)
	}
	return true
}

// keep appends b to the copy, before it is sent.
func (w *capture) keep(b []byte) {
	w.begin()
	w.writes++
	w.size += int64(len(b))
	if w.incomplete = w.incomplete || len(w.body)+len(b) > w.max; w.incomplete {
		w.body = nil
		return
	}
	w.body = append(w.body, b...)
}

// Write implements [io.Writer]. Bytes that no longer reach the client still belong to the answer.
func (w *capture) Write(b []byte) (int, error) {
	w.keep(b)
	return w.ResponseWriter.Write(b)
}

// WriteString implements [io.StringWriter].
func (w *capture) WriteString(s string) (int, error) {
	w.keep([]byte(s))
	return w.ResponseWriter.WriteString(s)
}

// ReadFrom implements [io.ReaderFrom], which [io.Copy] uses: it may end anywhere.
func (w *capture) ReadFrom(r io.Reader) (int64, error) {
	w.streamed = true
	return io.Copy(struct{ io.Writer }{w}, r)
}

// WriteHeader implements [http.ResponseWriter]. A failure after the answer has begun cannot change
// what was sent, but the rest of the answer is missing.
func (w *capture) WriteHeader(status int) {
	w.broken = w.broken || w.sent != nil && status >= http.StatusBadRequest && status != w.Status()
	w.ResponseWriter.WriteHeader(status)
}

// WriteHeaderNow implements [gin.ResponseWriter].
func (w *capture) WriteHeaderNow() {
	w.begin()
	w.ResponseWriter.WriteHeaderNow()
}

// Flush implements [http.Flusher].
func (w *capture) Flush() {
	w.begin()
	w.streamed = true
	w.ResponseWriter.Flush()
}

// Hijack implements [http.Hijacker]. What is sent from then on is not seen.
func (w *capture) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.incomplete = true
	return w.ResponseWriter.Hijack()
}

// Unwrap serves [http.ResponseController].
func (w *capture) Unwrap() http.ResponseWriter { return w.ResponseWriter }
