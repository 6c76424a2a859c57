package middleware

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/internal/web"
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
	body, err := web.ReadBody(c.Writer, c.Request, c, m.config.MaxBody, m.config.BodyTimeout)
	if err != nil {
		return nil, m.unreadBody(r.Context(), err)
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
	case errors.Is(err, web.ErrTooLarge):
		return tooLarge(m.config.MaxBody)
	case isTooLarge:
		return tooLarge(limited.Limit) // of other middleware
	case errors.Is(err, web.ErrTimeout):
		return NewProblem(http.StatusRequestTimeout, "request-timeout", "the body took too long to arrive")
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.Canceled):
		return fmt.Errorf("middleware: reading the body: %w", context.Cause(ctx))
	case ctx.Err() != nil, isNetwork, errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: %w", errClientGone, err)
	default:
		return &lockspec.InvalidError{Reason: "the body could not be read", Err: err}
	}
}
