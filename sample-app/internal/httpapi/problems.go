package httpapi

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// fail answers a request that failed, and ends it. What is the app's own becomes a problem here;
// all else is the middleware's to answer and to log.
func (a *api) fail(c *gin.Context, err error) {
	if p := problemOf(err); p != nil {
		err = p
	}
	a.locks.Fail(c, err)
}

// problemOf returns what to answer for an error of the app's own, and nil for any other.
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
	if errors.Is(err, gormplugin.ErrPathTooLong) {
		return middleware.NewProblem(http.StatusBadRequest, "invalid-request", "name: "+middleware.Detail(err))
	}
	return nil
}
