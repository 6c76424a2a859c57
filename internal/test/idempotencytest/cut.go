package idempotencytest

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/idempotency"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
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

// CloseNotify implements what gin's Stream asks for.
func (w *deaf) CloseNotify() <-chan bool { return nil }

// checkCutShort checks that a piece of an answer is never replayed as the whole.
func (d Database) checkCutShort(t *testing.T) {
	const text = "0123456789"
	for name, c := range map[string]struct {
		answer func(c *gin.Context, hangUp context.CancelFunc)
		after  int
		// kept says that the answer is whole.
		kept bool
	}{
		"a stream that ends with the client": {after: 1, answer: func(c *gin.Context, _ context.CancelFunc) {
			for _, piece := range strings.Split(text, "") {
				if c.Request.Context().Err() != nil {
					return
				}
				_, _ = c.Writer.WriteString(piece)
				c.Writer.Flush()
			}
		}},
		"a stream without flushes": {after: 1, answer: func(c *gin.Context, _ context.CancelFunc) {
			for _, piece := range strings.Split(text, "") {
				if c.Request.Context().Err() != nil {
					return
				}
				_, _ = c.Writer.WriteString(piece)
			}
		}},
		"a copy to nobody": {after: 0, answer: func(c *gin.Context, hangUp context.CancelFunc) {
			hangUp()
			_, _ = io.Copy(c.Writer, struct{ io.Reader }{io.MultiReader(strings.NewReader(text[:5]), strings.NewReader(text[5:]))})
		}},
		"a stream to nobody": {after: 0, answer: func(c *gin.Context, hangUp context.CancelFunc) {
			hangUp()
			_, _ = c.Writer.WriteString(text[:5])
			c.Writer.Flush()
		}},
		"less than was declared": {after: 9, answer: func(c *gin.Context, _ context.CancelFunc) {
			c.DataFromReader(http.StatusOK, int64(len(text)), "text/plain", strings.NewReader(text[:5]), nil)
		}},
		"the client goes after the first piece": {after: 9, answer: func(c *gin.Context, hangUp context.CancelFunc) {
			_, _ = c.Writer.WriteString(text[:5])
			hangUp()
		}},
		"a handler that panics after the first piece": {after: 9, answer: func(c *gin.Context, _ context.CancelFunc) {
			_, _ = c.Writer.WriteString(text[:5])
			panic("in the middle")
		}},
		"a proxy whose backend breaks off": {after: 9, answer: func(c *gin.Context, _ context.CancelFunc) {
			_, _ = c.Writer.WriteString(text[:5])
			panic(http.ErrAbortHandler) // as httputil.ReverseProxy does; gin.Recovery states no failure then
		}},
		"a handler that fails after the first piece": {after: 9, answer: func(c *gin.Context, _ context.CancelFunc) {
			_, _ = c.Writer.WriteString(text[:5])
			middleware.New(pathlock.New(memstore.New()), nil, middleware.Config{Log: slog.New(slog.DiscardHandler)}).Fail(c, errors.New("in the middle"))
		}},
		"everything that was declared, to nobody": {after: 0, kept: true, answer: func(c *gin.Context, _ context.CancelFunc) {
			c.DataFromReader(http.StatusOK, int64(len(text)), "text/plain", strings.NewReader(text), nil)
		}},
		"everything at once, when the client had gone": {after: 0, kept: true, answer: func(c *gin.Context, hangUp context.CancelFunc) {
			hangUp()
			c.String(http.StatusOK, text)
		}},
		"a stream to its end": {after: 99, kept: true, answer: func(c *gin.Context, _ context.CancelFunc) {
			for _, piece := range strings.Split(text, "") {
				_, _ = c.Writer.WriteString(piece)
				c.Writer.Flush()
			}
		}},
	} {
		for _, commits := range []bool{true, false} {
			s := d.open(t, idempotency.Config{})
			ctx, hangUp := context.WithCancel(t.Context())
			s.gin.POST("/cut", s.keys.Handle, gin.RecoveryWithWriter(nil), func(gc *gin.Context) {
				o := &Order{Item: gc.GetHeader(idempotency.Header)}
				if commits {
					testerr.None(t, s.db.WithContext(gc.Request.Context()).Create(o).Error)
				}
				c.answer(gc, hangUp)
			})
			k := key()
			first := func() {
				r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/cut", nil)
				r.Header.Set(idempotency.Header, k)
				s.gin.ServeHTTP(&deaf{ResponseWriter: httptest.NewRecorder(), hangUp: hangUp, after: c.after}, r)
			}
			first()
			hangUp()
			again := s.send(ask{path: "/cut", key: k})
			switch {
			case c.kept:
				again.is(t, http.StatusOK, true, "")
				if again.body != text {
					t.Errorf("%s: replayed %q", name, again.body)
				}
			case commits:
				again.is(t, http.StatusConflict, false, "idempotency-answer-lost")
			case again.replayed:
				t.Errorf("%s: replayed %q", name, again.body)
			}
			if n := s.orders(t, k); (n == 1) != commits || n > 1 {
				t.Errorf("%s: %d orders", name, n)
			}
		}
	}
}
