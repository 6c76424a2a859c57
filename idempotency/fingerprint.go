package idempotency

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/internal/readlimit"
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
func (k *Keys) body(c *gin.Context) ([]byte, error) {
	read, err := k.readBody(c)
	if err != nil || len(read) > 0 || c.Request.ContentLength == 0 {
		return read, err
	}
	if kept, ok := c.Get(gin.BodyBytesKey); ok {
		if kept, ok := kept.([]byte); ok {
			return kept, nil
		}
	}
	if c.Request.ContentLength > 0 {
		return nil, errBodyGone
	}
	return nil, nil
}

// readBody reads the body, if there is one, and puts it back.
func (k *Keys) readBody(c *gin.Context) ([]byte, error) {
	r := c.Request
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	lift := readlimit.Begin(c.Writer, r, k.config.BodyTimeout)
	read, err := io.ReadAll(http.MaxBytesReader(c.Writer, r.Body, k.config.MaxBody))
	if readlimit.Exceeded(err) {
		c.Header("Connection", "close")
		return nil, err
	}
	lift()
	r.Body = io.NopCloser(bytes.NewReader(read))
	return read, err
}

// unreadable is the problem of a body that could not be read.
func unreadable(err error) *middleware.Problem {
	if readlimit.Exceeded(err) {
		return middleware.NewProblem(http.StatusRequestTimeout, "request-timeout", "the body took too long to arrive")
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return middleware.NewProblem(http.StatusRequestEntityTooLarge, "too-large", "the body is too large for a request with an "+Header)
	}
	return middleware.NewProblem(http.StatusBadRequest, "invalid-request", "the body ends before all of it has been sent")
}
