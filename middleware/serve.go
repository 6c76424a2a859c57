package middleware

import (
	"context"
	"errors"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/gincontext"
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
	end := func() {}
	if locked {
		var request *gincontext.Request
		ctx, request = gincontext.New(ctx)
		end = request.End
	}
	inner := outer.WithContext(ctx)
	c.Request = inner
	defer func() {
		end() // nobody reads c.Request from now on
		if left := gincontext.Restore(&c.Request, outer, inner); left != nil {
			// Such as files of the form, which net/http removes for its own request.
			*outer = *left.WithContext(outer.Context())
		}
	}()
	c.Next()
}

// isUnderLocks reports whether a handler that [Locks.serveLocked] has called works under ctx.
func (m *Locks) isUnderLocks(ctx context.Context) bool {
	return m.locker.Serves(m.locker.Scope(ctx).Owner())
}
