package idempotency

import (
	"bufio"
	"net"
	"net/http"

	"github.com/gin-gonic/gin"
)

// capture passes an answer on, and keeps a copy of its body.
type capture struct {
	gin.ResponseWriter
	max  int
	body []byte
	// incomplete is set where the copy is not what the client got.
	incomplete bool
}

// keep appends to the copy what was sent of b.
func (w *capture) keep(b []byte) {
	if w.incomplete = w.incomplete || len(w.body)+len(b) > w.max; w.incomplete {
		w.body = nil
		return
	}
	w.body = append(w.body, b...)
}

// Write implements [io.Writer]. What the client does not get any more is part of the answer.
func (w *capture) Write(b []byte) (int, error) {
	w.keep(b)
	return w.ResponseWriter.Write(b)
}

// WriteString implements [io.StringWriter].
func (w *capture) WriteString(s string) (int, error) {
	w.keep([]byte(s))
	return w.ResponseWriter.WriteString(s)
}

// Hijack implements [http.Hijacker]. What is sent from then on is not seen.
func (w *capture) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.incomplete = true
	return w.ResponseWriter.Hijack()
}

// Unwrap serves [http.ResponseController].
func (w *capture) Unwrap() http.ResponseWriter { return w.ResponseWriter }
