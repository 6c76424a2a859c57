package idempotencytest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// deaf is a connection that breaks: its client goes away during the write after so many.
type deaf struct {
	http.ResponseWriter
	hangUp context.CancelFunc
	after  int
}

func (w *deaf) Write(b []byte) (int, error) {
	if w.after--; w.after < 0 {
		w.hangUp()
		return 0, errors.New("broken pipe")
	}
	return w.ResponseWriter.Write(b)
}

// Flush implements [http.Flusher].
func (w *deaf) Flush() {}

// Hijack implements [http.Hijacker].
func (w *deaf) Hijack() (net.Conn, *bufio.ReadWriter, error) { return nil, nil, nil }

// CloseNotify implements what gin's Stream asks for.
func (w *deaf) CloseNotify() <-chan bool { return nil }

// hangUpKey is the context key of what ends the connection of a client that is to go away.
type hangUpKey struct{}

// hearing returns how an answer reaches the client: if the request has X-Deaf, until after so many
// writes, or until the handler hangs up.
func hearing(w http.ResponseWriter, r *http.Request, hangUp context.CancelFunc) http.ResponseWriter {
	after, err := strconv.Atoi(r.Header.Get("X-Deaf"))
	if err != nil {
		return w
	}
	*r = *r.WithContext(context.WithValue(r.Context(), hangUpKey{}, hangUp))
	return &deaf{w, hangUp, after}
}

// hangUp has the client of a request go away, if it is to.
func hangUp(ctx context.Context) {
	if end, ok := ctx.Value(hangUpKey{}).(context.CancelFunc); ok {
		end()
	}
}

// whole is an answer.
const whole = "0123456789"

// pieces are the ways to write an answer, or a part of it.
var pieces = map[string]func(c *gin.Context){
	"hang-up": func(c *gin.Context) { hangUp(c.Request.Context()) },
	"half":    func(c *gin.Context) { _, _ = c.Writer.WriteString(whole[:5]) },
	"whole":   func(c *gin.Context) { c.String(http.StatusOK, whole) },
	"none":    func(c *gin.Context) { c.Status(http.StatusNoContent) },
	"warn":    func(c *gin.Context) { _ = c.Error(errors.New("a warning")) },
	"flush":   func(c *gin.Context) { c.Writer.Flush() },
	"stream":  func(c *gin.Context) { stream(c, c.Writer.Flush) },
	"write":   func(c *gin.Context) { stream(c, func() {}) },
	"copy": func(c *gin.Context) {
		_, _ = io.Copy(c.Writer, struct{ io.Reader }{io.MultiReader(strings.NewReader(whole[:5]), strings.NewReader(whole[5:]))})
	},
	"declared": func(c *gin.Context) {
		c.DataFromReader(http.StatusOK, int64(len(whole)), "text/plain", strings.NewReader(whole), nil)
	},
	"declared-half": func(c *gin.Context) {
		c.DataFromReader(http.StatusOK, int64(len(whole)), "text/plain", strings.NewReader(whole[:5]), nil)
	},
	"panic": func(*gin.Context) { panic("in the middle") },
	// as httputil.ReverseProxy does; gin.Recovery states no failure then
	"abort": func(*gin.Context) { panic(http.ErrAbortHandler) },
	"fail": func(c *gin.Context) {
		middleware.New(pathlock.New(memstore.New()), nil, middleware.Config{Log: slog.New(slog.DiscardHandler)}).Fail(c, errors.New("in the middle"))
	},
}

// stream writes an answer byte by byte, for as long as there is a client.
func stream(c *gin.Context, sent func()) {
	for i := 0; i < len(whole) && c.Request.Context().Err() == nil; i++ {
		_, _ = c.Writer.WriteString(whole[i : i+1])
		sent()
	}
}
