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

// Whatever ends a request, its hold stays as it is, and nothing else does.
func TestToken_holdOutlivesTheRequest(t *testing.T) {
	for _, tt := range []struct {
		what    string
		config  middleware.Config
		handler func(f *fixture, c *gin.Context)
		status  int
	}{
		{"an answer", middleware.Config{}, func(_ *fixture, c *gin.Context) { c.Status(http.StatusNoContent) }, 204},
		{"a panic", middleware.Config{}, func(*fixture, *gin.Context) { panic("in the handler") }, 500},
		{"held for too long", middleware.Config{MaxHold: time.Millisecond}, func(f *fixture, c *gin.Context) {
			<-c.Request.Context().Done()
			// The context ends before the store is told: what the request had is free once somebody
			// else gets it.
			f.release(f.acquire("/other"))
			f.locks.Fail(c, context.Cause(c.Request.Context()))
		}, 503},
	} {
		f := newFixture(t, memstore.New(), tt.config)
		mine := f.detached(plan, "/dir1")
		f.handler = func(c *gin.Context) { tt.handler(f, c) }
		for _, path := range []string{"/suites/3", "/suites/4"} {
			f.is(tt.what, f.send("DELETE", path, "", token(mine)...), tt.status, "")
			f.only(tt.what, "X /dir1")
		}
		if tt.status == http.StatusNoContent && f.logged() > 0 {
			t.Errorf("%s: logged %s", tt.what, &f.log)
		}
		f.end(mine)
		f.nothingLeft()
	}
}

// A hold that ends by the clock is the holder's loss wherever the request is: at its start, where
// it locks besides the hold, or in its handler.
func TestToken_holdThatEndsByTheClockIs409(t *testing.T) {
	for _, left := range []time.Duration{1, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, memstore.New(), middleware.Config{})
			mine := f.detached(plan, "/dir1")
			f.handler = func(c *gin.Context) {
				time.Sleep(left)
				f.locks.Fail(c, f.tryUnder(f.locker.Scope(c.Request.Context()).Context(context.Background()), "/x"))
			}
			time.Sleep(time.Hour - left)
			f.is(left.String()+" before the end", f.send("DELETE", "/suites/4", "", token(mine)...), http.StatusConflict, "lock-lost")
			time.Sleep(left)
			f.nothingLeft()
		})
	}
}

// The end of the hold ends the handler's context, and what it says of that is 409.
func TestToken_holdThatEndsUnderTheHandlerIs409(t *testing.T) {
	for _, tt := range []struct {
		what    string
		err     error
		status  int
		problem string
	}{
		{"the context's error", context.Canceled, 409, "lock-lost"},
		{"what a driver says", errors.New("interrupted"), 409, "lock-lost"},
		{"the outcome is unknown", pathlock.FailureOutcomeUnknown.New("hm"), 503, "outcome-unknown"},
		{"something else is wrong", pathlock.ErrNotFound, 404, "not-found"},
	} {
		f := newFixture(t, memstore.New(), middleware.Config{})
		mine := f.detached(plan, "/dir1")
		f.handler = func(c *gin.Context) {
			f.end(mine)
			ctx := c.Request.Context()
			// An acquisition asks the store, which says that the hold is no more.
			if err := f.tryUnder(ctx, "/x"); err == nil {
				t.Error("the hold has ended, and something was acquired under it")
			}
			<-ctx.Done()
			f.locks.Fail(c, tt.err)
		}
		f.is(tt.what, f.send("DELETE", "/suites/3", "", token(mine)...), tt.status, tt.problem)
		f.nothingLeft()
	}
}
