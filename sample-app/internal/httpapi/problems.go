package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/sample-app/internal/database"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// fail answers a request that failed, and ends it. It is the one place that
// turns errors into answers, of the lock middleware too.
func (a *api) fail(c *gin.Context, err error) {
	if a.gone(c) {
		return
	}
	if cause := context.Cause(c.Request.Context()); errors.Is(cause, pathlock.ErrLost) {
		// The work was cut off because its lock was lost; what it then stumbled over is of no interest.
		err = fmt.Errorf("%w: %w", cause, err)
	}
	if p := problemOf(err); p != nil {
		if p.Status >= http.StatusInternalServerError {
			a.log.WarnContext(c.Request.Context(), "request failed", "method", c.Request.Method, "path", c.Request.URL.Path, "status", p.Status, "error", err)
		}
		err = p
	} else if c.Request.Context().Err() == nil {
		a.log.ErrorContext(c.Request.Context(), "request failed", "method", c.Request.Method, "path", c.Request.URL.Path, "error", err)
	}
	a.locks.Fail(c, err)
}

// problemOf returns what to answer for an error, and nil for an unknown one.
func problemOf(err error) *middleware.Problem {
	if invalid, ok := errors.AsType[*plans.InvalidError](err); ok {
		p := middleware.NewProblem(http.StatusBadRequest, "invalid-request", invalid.Error())
		p.Field = invalid.Field
		return p
	}
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return middleware.NewProblem(http.StatusRequestEntityTooLarge, "too-large",
			fmt.Sprintf("the body exceeds the limit of %d bytes", tooLarge.Limit))
	}
	switch {
	case errors.Is(err, plans.ErrNameTaken):
		return middleware.NewProblem(http.StatusConflict, "name-taken", middleware.Detail(err))
	case errors.Is(err, gormplugin.ErrPathTooLong):
		return middleware.NewProblem(http.StatusBadRequest, "invalid-request", "name: "+middleware.Detail(err))
	}
	if p := middleware.ProblemOf(err); p != nil {
		return p
	}
	switch {
	case errors.Is(err, gormplugin.ErrRetry), database.IsContention(err):
		return middleware.Later(http.StatusLocked, "locked", "other transactions were in the way, again and again")
	case database.IsUnavailable(err):
		return middleware.Later(http.StatusServiceUnavailable, "database-unavailable", "the database does not answer; nothing was written")
	default:
		return nil
	}
}
