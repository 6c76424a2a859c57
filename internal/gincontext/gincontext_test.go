package gincontext_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/internal/gincontext"
)

type userKey string

// newGin returns gin's own context, with a request whose context is ctx.
func newGin(ctx context.Context, fallback bool) *gin.Context {
	engine := gin.New()
	engine.ContextWithFallback = fallback
	c := gin.CreateTestContextOnly(httptest.NewRecorder(), engine)
	c.Request = httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	return c
}

// onBoth runs a test with and without ContextWithFallback.
func onBoth(t *testing.T, test func(t *testing.T, fallback bool)) {
	t.Run("by default", func(t *testing.T) { test(t, false) })
	t.Run("with ContextWithFallback", func(t *testing.T) { test(t, true) })
}

// A joined context has the values of both, and ends with the request and with itself.
func TestJoin_endsWithTheRequestAndWithItself(t *testing.T) {
	lost, enough := errors.New("lost"), errors.New("enough")
	onBoth(t, func(t *testing.T, fallback bool) {
		for _, want := range []error{lost, enough} {
			request, lose := context.WithCancelCause(context.WithValue(t.Context(), userKey("k"), "the request's"))
			inner, running := gincontext.New(request)
			c := newGin(inner, fallback)
			own, stop := context.WithCancelCause(valued(c))
			all, end := []context.Context{c, c.Copy(), valued(c), own}, func() { lose(lost) }
			if errors.Is(want, enough) {
				all, end = all[3:], func() { stop(enough) } // the others have no end of their own
			}
			var ending []context.Context
			for _, ctx := range all {
				joined := gincontext.Join(ctx)
				if joined.Err() != nil || joined.Value(userKey("k")) != "the request's" || joined.Value(userKey("own")) != ctx.Value(userKey("own")) {
					t.Errorf("ended at once (%v), or values are missing", joined.Err())
				}
				if gincontext.Join(joined) != joined || gincontext.Join(valued(joined)).Value(userKey("k")) == nil {
					t.Error("joined twice")
				}
				child, cancel := context.WithCancel(joined)
				defer cancel()
				ending = append(ending, joined, child)
			}
			end()
			for _, ctx := range ending {
				if <-ctx.Done(); !errors.Is(context.Cause(ctx), want) {
					t.Errorf("the cause is %v, want %v", context.Cause(ctx), want)
				}
			}
			running.End()
			lose(nil)
			stop(nil)
		}
	})
}

// A joined context ends by a deadline of its own as others do, and tells its cause.
func TestJoin_keepsADeadline(t *testing.T) {
	enough := errors.New("enough")
	onBoth(t, func(t *testing.T, fallback bool) {
		inner, running := gincontext.New(t.Context())
		defer running.End()
		own, stop := context.WithTimeoutCause(valued(newGin(inner, fallback)), time.Millisecond, enough)
		defer stop()
		joined := gincontext.Join(own)
		child, cancel := context.WithCancel(joined)
		defer cancel()
		<-child.Done()
		for _, ctx := range []context.Context{joined, child} {
			ends, _ := own.Deadline()
			if got, _ := ctx.Deadline(); got != ends || !errors.Is(ctx.Err(), context.DeadlineExceeded) || !errors.Is(context.Cause(ctx), enough) {
				t.Errorf("it ends at %v with %v, caused by %v", got, ctx.Err(), context.Cause(ctx))
			}
		}
	})
}

func valued(ctx context.Context) context.Context {
	return context.WithValue(ctx, userKey("own"), "its")
}

// Under the race detector, this fails if anybody asks gin's context once its request is over: gin
// gives it to another request, which has no locks.
func TestJoin_asksNoContextWhoseRequestIsOver(t *testing.T) {
	onBoth(t, func(t *testing.T, fallback bool) {
		for range 30 {
			request, end := context.WithCancel(context.WithValue(t.Context(), userKey("of"), "the first"))
			inner, running := gincontext.New(request)
			c := newGin(inner, fallback)
			var joined []context.Context
			for _, ctx := range []context.Context{c, valued(c)} {
				joined = append(joined, gincontext.Join(ctx))
				ended, cancel := context.WithCancel(ctx)
				defer cancel()
				joined = append(joined, gincontext.Join(ended))
			}
			asked := make(chan any)
			for _, ctx := range joined {
				go func() {
					ctx.Value(userKey("own"))
					<-ctx.Done()
					if !errors.Is(context.Cause(ctx), context.Canceled) {
						t.Errorf("the cause is %v", context.Cause(ctx))
					}
					asked <- ctx.Value(userKey("of"))
				}()
			}
			running.End()
			c.Request = httptest.NewRequestWithContext(context.WithValue(context.Background(), userKey("of"), "the second"), http.MethodGet, "/", nil)
			c.Keys = nil
			end()
			c.Request = nil // while what waited for the end is running
			for range joined {
				if got := <-asked; got != "the first" {
					t.Errorf("the value is %v's", got)
				}
			}
		}
	})
}
