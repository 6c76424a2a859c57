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

	"github.com/pathlock-go/pathlock/internal/readlimit"
	"github.com/pathlock-go/pathlock/lockspec"
)

// tooLarge is the error of a body that is longer than a limit in bytes.
func tooLarge(limit int64) error {
	return NewProblem(http.StatusRequestEntityTooLarge, "too-large", fmt.Sprintf("request body too large: at most %d bytes are allowed", limit))
}

// readBody reads the body once, and puts back what it read. Earlier middleware may have read it by
// [gin.Context.ShouldBindBodyWith], which keeps what it reads, and may have replaced it since. Then
// the request has the body that it has now, and what gin keeps is the same afterwards: handlers
// read either.
func (v *values) readBody() error {
	if v.read {
		return nil
	}
	kept := keptBody(v.c)
	if int64(len(kept)) > v.config.MaxBody {
		return tooLarge(v.config.MaxBody)
	}
	if err := v.readPresentBody(); err != nil || kept == nil {
		return err
	}
	if len(v.body) > 0 {
		v.c.Set(gin.BodyBytesKey, v.body)
		return nil
	}
	v.body, v.c.Request.Body = kept, putBack(kept, v.c.Request.Body)
	return nil
}

// readPresentBody reads the body that the request has, whatever gin keeps.
func (v *values) readPresentBody() error {
	r := v.c.Request
	if r.ContentLength > v.config.MaxBody {
		return tooLarge(v.config.MaxBody)
	}
	if ahead, ok := r.Body.(*readBody); ok {
		if data, ok := ahead.complete(); ok && int64(len(data)) <= v.config.MaxBody {
			v.body, v.read = data, true
			return nil
		}
	}
	if r.Body != nil {
		body, err := io.ReadAll(http.MaxBytesReader(v.c.Writer, r.Body, v.config.MaxBody))
		if err != nil {
			return unreadBody(r.Context(), err)
		}
		v.body = body
		r.Body = putBack(body, r.Body)
	}
	v.read = true
	return nil
}

// ErrClientGone is matched when the client went away before its whole body had come.
var ErrClientGone = errors.New("middleware: the client went away before all of the body had come")

// keptBody returns the body that gin keeps for [gin.Context.ShouldBindBodyWith], nil if it keeps
// none.
func keptBody(c *gin.Context) []byte {
	kept, _ := c.Get(gin.BodyBytesKey)
	body, _ := kept.([]byte)
	return body
}

// replay is a body that has been read and can be read again.
type replay struct {
	*bytes.Reader
	io.Closer
}

// putBack returns the body to replace one that was read.
func putBack(read []byte, from io.ReadCloser) io.ReadCloser {
	if from == nil {
		from = http.NoBody
	}
	return replay{bytes.NewReader(read), from}
}

// unreadBody returns the error of a body that could not be read.
func unreadBody(ctx context.Context, err error) error {
	limited, isTooLarge := errors.AsType[*http.MaxBytesError](err)
	_, isNetwork := errors.AsType[net.Error](err)
	switch {
	case isTooLarge:
		// Other middleware may have limited the body too.
		return tooLarge(limited.Limit)
	case readlimit.Exceeded(err):
		return NewProblem(http.StatusRequestTimeout, "request-timeout", "the body took too long to arrive")
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.Canceled):
		return fmt.Errorf("middleware: reading the body: %w", context.Cause(ctx))
	case ctx.Err() != nil, isNetwork, errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), isClosedStream(err):
		return fmt.Errorf("%w: %w", ErrClientGone, err)
	default:
		return &lockspec.InvalidError{Reason: "the body could not be read", Err: err}
	}
}

// isClosedStream reports whether an HTTP/2 connection has ended. net/http has no name for the
// error.
func isClosedStream(err error) bool { return err.Error() == "client disconnected" }
