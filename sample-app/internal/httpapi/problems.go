package httpapi

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// fail answers a request that failed, and ends it. The app's own errors become problems here. The
// middleware answers all others, and logs them.
func (a *api) fail(c *gin.Context, err error) {
	if p := ownProblem(err); p != nil {
		err = p
	} else if c.Request.Context().Err() == nil { // otherwise it matters why the work was cut off
		err = a.explained(err)
	}
	a.locks.Fail(c, err)
}

// explained puts a problem before an error of a server that is full, or does not let the instance
// in: to clients, that is not the same as one that does not answer.
func (a *api) explained(err error) error {
	if _, chosen := errors.AsType[*middleware.Problem](err); chosen || errors.Is(err, pathlock.ErrLost) {
		return err
	}
	p := a.locks.ProblemOf(err)
	if p == nil {
		return err
	}
	switch pathlock.Failure(p.Slug()) {
	case pathlock.FailureLockStore:
		p.Detail = "the lock store " + anystore.Trouble(err)
	case pathlock.FailureDatabase:
		p.Detail = "the database " + anystore.Trouble(err)
	default:
		return err
	}
	return fmt.Errorf("%w: %w", p, err)
}

// ownProblem returns the answer to an error of the app's own, and nil for any other error.
func ownProblem(err error) *middleware.Problem {
	if errors.Is(err, pathlock.ErrInvalidToken) {
		err = invalidToken("is not a token that a lock was answered with")
	}
	if invalid, ok := errors.AsType[*plans.InvalidError](err); ok {
		p := middleware.NewProblem(http.StatusBadRequest, "invalid-request", invalid.Error())
		p.Field = invalid.Field
		return p
	}
	return nil
}

// invalidToken says why a request's token is refused.
func invalidToken(reason string) error {
	return &plans.InvalidError{Field: middleware.TokenHeader, Reason: reason}
}
