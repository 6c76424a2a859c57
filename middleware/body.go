package middleware

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/internal/readahead"
	"github.com/pathlock-go/pathlock/lockspec"
)

// ReadJSON returns the body of a request as the middleware reads it for a spec. It is for your own
// handlers and middleware that look into the body. The body is complete, has at most
// [Config.MaxBody] bytes, has come within [Config.BodyTimeout], and its type is application/json or
// one of [Config.JSONTypes]. ReadJSON returns nil if there is no body, whatever the content type.
// Afterwards the body can be read as if it had not been, and ReadJSON returns it again.
//
// ReadJSON does not check the syntax: [lockspec.CheckJSON] does. [Locks.Fail] answers its errors
// by 408, 413, 415 or 400. The connection of a body that was not read to its end cannot be used
// again: answer with the header Connection: close.
func (m *Locks) ReadJSON(c *gin.Context) ([]byte, error) {
	r := c.Request
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return nil, nil
	}
	if err := m.wantJSON(c); err != nil {
		return nil, err
	}
	if err := m.readAhead(c); err != nil {
		return nil, err
	}
	return m.bodyOf(c)
}

// readAhead reads the request's body before anything is locked, up to [Config.MaxBody].
func (m *Locks) readAhead(c *gin.Context) error {
	if err := readahead.Read(c.Writer, c.Request, m.config.MaxBody, m.config.BodyTimeout); err != nil {
		return m.unreadBody(c.Request.Context(), err)
	}
	return nil
}

// bodyOf returns the body that [Locks.readAhead] has read, and leaves it to the handler. Earlier
// middleware may have read it by [gin.Context.ShouldBindBodyWith], which keeps what it reads, and
// may have replaced it since. Then the request has the body that it has now, and what gin keeps is
// the same afterwards: handlers read either.
func (m *Locks) bodyOf(c *gin.Context) (body []byte, err error) {
	if ahead, ok := c.Request.Body.(*readahead.Body); ok {
		if body, err = ahead.Bytes(); err != nil {
			return nil, m.unreadBody(c.Request.Context(), err)
		}
	}
	kept, _ := c.Get(gin.BodyBytesKey)
	switch kept, _ := kept.([]byte); {
	case kept == nil:
	case len(body) > 0:
		c.Set(gin.BodyBytesKey, body)
	default:
		body, c.Request.Body = kept, io.NopCloser(bytes.NewReader(kept))
	}
	if int64(len(body)) > m.config.MaxBody {
		return nil, tooLarge(m.config.MaxBody)
	}
	return body, nil
}

// tooLarge is the error of a body that is longer than a limit in bytes.
func tooLarge(limit int64) error {
	return NewProblem(http.StatusRequestEntityTooLarge, "too-large", fmt.Sprintf("request body too large: at most %d bytes are allowed", limit))
}

// errClientGone is matched when the client went away before its whole body had come.
var errClientGone = errors.New("middleware: the client went away before all of the body had come")

// unreadBody returns the answer to a body that could not be read.
func (m *Locks) unreadBody(ctx context.Context, err error) error {
	limited, isTooLarge := errors.AsType[*http.MaxBytesError](err)
	_, isNetwork := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, readahead.ErrTooLarge):
		return tooLarge(m.config.MaxBody)
	case isTooLarge:
		return tooLarge(limited.Limit) // of other middleware
	case errors.Is(err, readahead.ErrTimeout):
		return NewProblem(http.StatusRequestTimeout, "request-timeout", "the body took too long to arrive")
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.Canceled):
		return fmt.Errorf("middleware: reading the body: %w", context.Cause(ctx))
	case ctx.Err() != nil, isNetwork, errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: %w", errClientGone, err)
	default:
		return &lockspec.InvalidError{Reason: "the body could not be read", Err: err}
	}
}
