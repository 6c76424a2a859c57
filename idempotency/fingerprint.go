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
	body, err := k.body(c)
	if err != nil {
		return "", err
	}
	return hash(c.Request.Method, c.Request.URL.EscapedPath(), c.Request.URL.RawQuery, string(body)), nil
}

// body reads the body and puts it back. Where somebody has read it before, it returns the copy that
// gin keeps.
func (k *Keys) body(c *gin.Context) (body []byte, err error) {
	if err = readahead.Read(c.Writer, c.Request, k.config.MaxBody, k.config.BodyTimeout); err != nil {
		return nil, err
	}
	if ahead, ok := c.Request.Body.(*readahead.Body); ok {
		if body, err = ahead.Bytes(); err != nil || len(body) > 0 {
			return body, err
		}
	}
	if kept, ok := c.Get(gin.BodyBytesKey); ok && c.Request.ContentLength != 0 {
		if kept, ok := kept.([]byte); ok {
			return kept, nil
		}
	}
	if c.Request.ContentLength > 0 {
		return nil, errBodyGone
	}
	return nil, nil
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
