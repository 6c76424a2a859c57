package idempotency

import (
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/internal/readahead"
	"github.com/pathlock-go/pathlock/middleware"
)

// errBodyGone says that there was a body, and that nobody can know it any more.
var errBodyGone = errors.New("idempotency: the body has been read")

// fingerprint tells requests apart that were sent under one key.
func (k *Keys) fingerprint(c *gin.Context) (string, error) {
	body, err := readahead.Read(c, k.config.MaxBody, k.config.BodyTimeout)
	if err == nil && len(body) == 0 && c.Request.ContentLength > 0 {
		err = errBodyGone
	}
	if err != nil {
		return "", err
	}
	return hash(c.Request.Method, c.Request.URL.EscapedPath(), c.Request.URL.RawQuery, string(body)), nil
}

// unreadable is the problem of a body that could not be read.
func unreadable(err error) *middleware.Problem {
	if errors.Is(err, readahead.ErrTimeout) {
		return middleware.NewProblem(http.StatusRequestTimeout, "request-timeout", "the body took too long to arrive")
	}
	if _, limited := errors.AsType[*http.MaxBytesError](err); limited || errors.Is(err, readahead.ErrTooLarge) {
		return middleware.NewProblem(http.StatusRequestEntityTooLarge, "too-large", "the body is too large for a request with an "+Header)
	}
	return middleware.NewProblem(http.StatusBadRequest, "invalid-request", "the body ends before all of it has been sent")
}
