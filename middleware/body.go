package middleware

import (
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

// readAhead reads the request's body before anything is locked, up to [Config.MaxBody]. So nobody
// waits for locks while a client sends it byte by byte. The handler reads it as if it had not been
// read. A body that is known to be longer stays unread, and so does the rest of one that turns out
// to be longer.
func (m *Locks) readAhead(c *gin.Context) error {
	r := c.Request
	if r.Body == nil || r.Body == http.NoBody || r.Method == http.MethodConnect {
		return nil
	}
	// Of a body that is known to be longer, most would come under the locks in any case.
	if _, done := r.Body.(*aheadBody); done || r.ContentLength > m.config.MaxBody {
		return nil
	}
	unlimited := readlimit.Begin(c.Writer, r, m.config.BodyTimeout)
	data, err := io.ReadAll(io.LimitReader(r.Body, m.config.MaxBody+1))
	if readlimit.Exceeded(err) {
		c.Header("Connection", "close")
		return unreadBody(r.Context(), err)
	}
	unlimited()
	if err == nil && int64(len(data)) <= m.config.MaxBody {
		err = io.EOF
	}
	r.Body = &aheadBody{data: data, err: err, rest: r.Body}
	return nil
}

// aheadBody is a body of which the first part has been read.
type aheadBody struct {
	data []byte
	next int   // the first byte of data that the handler has not read
	err  error // what came after data, nil if there is more to come
	rest io.ReadCloser
}

// Read implements [io.Reader].
func (b *aheadBody) Read(p []byte) (int, error) {
	if b.next < len(b.data) {
		n := copy(p, b.data[b.next:])
		b.next += n
		return n, nil
	}
	if b.err != nil {
		return 0, b.err
	}
	return b.rest.Read(p)
}

// Close implements [io.Closer].
func (b *aheadBody) Close() error { return b.rest.Close() }

// readBody finds the body that [Locks.readAhead] has read, and leaves it to the handler. Earlier
// middleware may have read it by [gin.Context.ShouldBindBodyWith], which keeps what it reads, and
// may have replaced it since. Then the request has the body that it has now, and what gin keeps is
// the same afterwards: handlers read either.
func (v *values) readBody() error {
	if v.read {
		return nil
	}
	r, limit := v.c.Request, v.config.MaxBody
	kept := keptBody(v.c)
	if r.ContentLength > limit || int64(len(kept)) > limit {
		return tooLarge(limit)
	}
	if ahead, ok := r.Body.(*aheadBody); ok {
		switch {
		case ahead.err == nil:
			return tooLarge(limit)
		case !errors.Is(ahead.err, io.EOF):
			return unreadBody(r.Context(), ahead.err)
		}
		v.body = ahead.data[ahead.next:]
	}
	v.read = true
	switch {
	case kept == nil:
	case len(v.body) > 0:
		v.c.Set(gin.BodyBytesKey, v.body)
	default:
		v.body, r.Body = kept, &aheadBody{data: kept, err: io.EOF, rest: http.NoBody}
	}
	return nil
}

// keptBody returns the body that gin keeps for [gin.Context.ShouldBindBodyWith], nil if it keeps
// none.
func keptBody(c *gin.Context) []byte {
	kept, _ := c.Get(gin.BodyBytesKey)
	body, _ := kept.([]byte)
	return body
}

// tooLarge is the error of a body that is longer than a limit in bytes.
func tooLarge(limit int64) error {
	return NewProblem(http.StatusRequestEntityTooLarge, "too-large", fmt.Sprintf("request body too large: at most %d bytes are allowed", limit))
}

// errClientGone is matched when the client went away before its whole body had come.
var errClientGone = errors.New("middleware: the client went away before all of the body had come")

// unreadBody returns the error of a body that could not be read.
func unreadBody(ctx context.Context, err error) error {
	limited, isTooLarge := errors.AsType[*http.MaxBytesError](err)
	_, isNetwork := errors.AsType[net.Error](err)
	switch {
	case isTooLarge:
		return tooLarge(limited.Limit) // of other middleware
	case readlimit.Exceeded(err):
		return NewProblem(http.StatusRequestTimeout, "request-timeout", "the body took too long to arrive")
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.Canceled):
		return fmt.Errorf("middleware: reading the body: %w", context.Cause(ctx))
	case ctx.Err() != nil, isNetwork, errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), isClosedStream(err):
		return fmt.Errorf("%w: %w", errClientGone, err)
	default:
		return &lockspec.InvalidError{Reason: "the body could not be read", Err: err}
	}
}

// isClosedStream reports whether an HTTP/2 connection has ended. net/http has no name for the
// error.
func isClosedStream(err error) bool { return err.Error() == "client disconnected" }
