package middleware_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// A hold that ends by the clock is the holder's loss wherever the request is: at its start, where
// it locks besides the hold, or in its handler.
func TestAHoldThatEndsByTheClockIs409(t *testing.T) {
	for _, left := range []time.Duration{1, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, memstore.New(), middleware.Config{})
			mine := f.detached(plan, "/dir1")
			f.handler = func(c *gin.Context) {
				time.Sleep(left)
				_, err := f.locker.Acquire(f.locker.Scope(c.Request.Context()).Context(context.Background()),
					pathlock.Request{Tree: plan, Claims: claim("/x"), Wait: pathlock.NoWait})
				middleware.New(f.locker, nil, middleware.Config{}).Fail(c, err)
			}
			time.Sleep(time.Hour - left)
			what := left.String() + " before the end"
			f.is(what, f.send("DELETE", "/suites/4", "", token(mine)...), http.StatusConflict, "lock-lost")
			time.Sleep(left)
			f.nothingLeft()
		})
	}
}

// The end of the hold ends the handler's context, and what it says of that is 409.
func TestAHoldThatEndsUnderTheHandlerIs409(t *testing.T) {
	for _, tt := range []struct {
		what    string
		err     func(ctx context.Context) error
		status  int
		problem string
	}{
		{"the cause", context.Cause, 409, "lock-lost"},
		{"the context's error", context.Context.Err, 409, "lock-lost"},
		{"what a driver says", func(context.Context) error { return errors.New("interrupted") }, 409, "lock-lost"},
		{"the outcome is unknown", func(context.Context) error { return pathlock.FailureOutcomeUnknown.New("hm") }, 503, "outcome-unknown"},
		{"something else is wrong", func(context.Context) error { return pathlock.ErrNotFound }, 404, "not-found"},
	} {
		f := newFixture(t, memstore.New(), middleware.Config{})
		mine := f.detached(plan, "/dir1")
		f.handler = func(c *gin.Context) {
			ctx := c.Request.Context()
			if _, err := f.locker.Refresh(ctx, mine, pathlock.MinLease); err != nil {
				t.Error(err)
			}
			again, err := f.locker.Attach(ctx, mine, pathlock.WithoutRenewal())
			if err == nil {
				<-again.Context().Done()
			}
			if err := f.locker.ReleaseToken(context.Background(), mine); err != nil && !errors.Is(err, pathlock.ErrLost) {
				t.Error(err)
			}
			// An acquisition asks the store, which says that the hold is no more.
			if _, err := f.locker.Acquire(ctx, pathlock.Request{Tree: plan, Claims: claim("/x"), Wait: pathlock.NoWait}); err == nil {
				t.Error("the hold has ended, and something was acquired under it")
			}
			<-ctx.Done()
			middleware.New(f.locker, nil, middleware.Config{}).Fail(c, tt.err(ctx))
		}
		f.is(tt.what, f.send("DELETE", "/suites/3", "", token(mine)...), tt.status, tt.problem)
		f.nothingLeft()
	}
}
