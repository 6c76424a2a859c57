package gincontext_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

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

func TestJoinedContextsEndWithTheRequestAndWithThemselves(t *testing.T) {
	lost, enough := errors.New("lost"), errors.New("enough")
	onBoth(t, func(t *testing.T, fallback bool) {
		for what, of := range map[string]func(*gin.Context) (context.Context, context.CancelCauseFunc){
			"gin's":   func(c *gin.Context) (context.Context, context.CancelCauseFunc) { return c, nil },
			"a copy":  func(c *gin.Context) (context.Context, context.CancelCauseFunc) { return c.Copy(), nil },
			"a value": func(c *gin.Context) (context.Context, context.CancelCauseFunc) { return valued(c), nil },
			"an end": func(c *gin.Context) (context.Context, context.CancelCauseFunc) {
				return context.WithCancelCause(valued(c))
			},
		} {
			for _, want := range []error{lost, enough} {
				request, lose := context.WithCancelCause(context.WithValue(t.Context(), userKey("k"), "the request's"))
				defer lose(nil)
				inner, running := gincontext.New(request)
				ctx, stop := of(newGin(inner, fallback))
				if stop == nil && errors.Is(want, enough) {
					continue // it has no end of its own
				}
				joined := gincontext.Join(ctx)
				if joined.Err() != nil {
					t.Errorf("%s: ended at once: %v", what, joined.Err())
				}
				if joined.Value(userKey("k")) != "the request's" || joined.Value(userKey("own")) != ctx.Value(userKey("own")) {
					t.Errorf("%s: values are missing", what)
				}
				if gincontext.Join(joined) != joined || gincontext.Join(valued(joined)).Value(userKey("k")) == nil {
					t.Errorf("%s: joined twice", what)
				}
				child, cancel := context.WithCancel(joined)
				defer cancel()
				if errors.Is(want, lost) {
					lose(lost)
				} else {
					stop(enough)
				}
				<-joined.Done()
				<-child.Done()
				if !errors.Is(context.Cause(joined), want) || !errors.Is(context.Cause(child), want) {
					t.Errorf("%s: the cause is %v, and a child's %v, want %v", what, context.Cause(joined), context.Cause(child), want)
				}
				running.End()
			}
		}
	})
}

func valued(ctx context.Context) context.Context {
	return context.WithValue(ctx, userKey("own"), "its")
}

func TestValuesAreLookedUpInTheRequestToo(t *testing.T) {
	onBoth(t, func(t *testing.T, fallback bool) {
		inner, running := gincontext.New(context.WithValue(t.Context(), userKey("k"), "the request's"))
		c := newGin(inner, fallback)
		for what, ctx := range map[string]context.Context{"gin's": c, "derived": valued(c), "the request's": inner} {
			if got := gincontext.Lookup(ctx, userKey("k")); got != "the request's" {
				t.Errorf("%s has %v", what, got)
			}
		}
		if got := gincontext.Lookup(valued(c), userKey("own")); got != "its" {
			t.Errorf("its own value is %v", got)
		}
		running.End()
		if gincontext.Join(c) != context.Context(c) || !fallback && gincontext.Lookup(c, userKey("k")) != nil {
			t.Error("the request is found though it is over")
		}
	})
}

// Under the race detector, this fails if anybody asks gin's context once its request is over: gin
// gives it to another request, which has no locks.
func TestGinsContextIsNotAskedOnceItsRequestIsOver(t *testing.T) {
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
