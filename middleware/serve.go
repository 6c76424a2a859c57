package middleware

import (
	"context"
	"errors"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/carry"
	"github.com/pathlock-go/pathlock/internal/requestcopy"
)

// errPanicked is the error of a step that a panic has ended.
var errPanicked = errors.New("middleware: a panic")

// serveLocked is serve under locks, as a step that observers see.
func (m *Locks) serveLocked(ctx context.Context, c *gin.Context) {
	work, done := m.locker.Step(ctx, pathlock.Step{Kind: pathlock.StepHandler})
	failures, served := len(c.Errors), false
	defer func() {
		switch {
		case !served:
			done(errPanicked)
		case ctx.Err() != nil:
			done(context.Cause(ctx))
		case len(c.Errors) > failures:
			done(c.Errors.Last().Err)
		default:
			done(nil)
		}
	}()
	m.serve(work, c, true)
	served = true
}

// serve runs the rest of the chain with a copy of the request that has the context ctx. Afterwards,
// outer middleware finds its own request again, with the changes made to the copy.
func (m *Locks) serve(ctx context.Context, c *gin.Context, locked bool) {
	outer := c.Request
	var carrier *carry.Carrier
	if locked {
		// gin's own context finds only what was set on it by a string.
		ctx, carrier = carry.New(ctx, c, m.carrier, requestcopy.ContextOf)
	}
	c.Request = outer.WithContext(ctx)
	defer func() {
		inner := c.Request
		c.Request = outer
		if inner == nil {
			return
		}
		requestcopy.Adopt(outer, inner)
		if left := inner.Context(); left != ctx {
			c.Request = outer.WithContext(&afterwards{Context: outer.Context(), values: left})
		}
	}()
	if !locked {
		c.Next()
		return
	}
	before, nested := c.Get(m.carrier)
	c.Set(m.carrier, carrier)
	defer func() {
		carrier.End()
		if nested {
			c.Set(m.carrier, before)
		} else {
			c.Delete(m.carrier)
		}
	}()
	carry.Run(string(m.locker.Scope(ctx).Owner()), c.Next)
}

// afterwards is the context of a request after the release of its locks. It has the values that
// were added under the locks, and ends with the context outside of them.
type afterwards struct {
	context.Context
	values context.Context
}

// Value implements [context.Context].
func (a *afterwards) Value(key any) any {
	if carry.IsOfLocks(key) {
		return a.Context.Value(key)
	}
	return carry.Value(a.values, a.Context, key)
}
