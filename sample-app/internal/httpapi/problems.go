package httpapi

import (
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// fail answers a request that failed, and ends it. The app's own errors become problems here. The
// middleware answers all others, and logs them.
func (a *api) fail(c *gin.Context, err error) {
	if p := ownProblem(err); p != nil {
		err = p
	}
	a.locks.Fail(c, err)
}

// ownProblem returns the answer to an error of the app's own, and nil for any other error.
func ownProblem(err error) *middleware.Problem {
	if errors.Is(err, pathlock.ErrInvalidToken) {
		err = invalidToken("is not what a lock was answered with")
	}
	if invalid, ok := errors.AsType[*plans.InvalidError](err); ok {
		p := middleware.NewProblem(http.StatusBadRequest, "invalid-request", invalid.Error())
		p.Field = invalid.Field
		return p
	}
	if errors.Is(err, gormplugin.ErrPathTooLong) {
		return middleware.NewProblem(http.StatusBadRequest, "invalid-request", "name: "+middleware.Detail(err))
	}
	return nil
}

// invalidToken says why a request's token is refused.
func invalidToken(reason string) error {
	return &plans.InvalidError{Field: middleware.TokenHeader, Reason: reason}
}
