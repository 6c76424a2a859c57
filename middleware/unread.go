package middleware

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/lockspec"
)

// ErrClientGone is matched when the client went away before all of its body had come.
var ErrClientGone = errors.New("middleware: the client went away before all of the body had come")

// keptBody returns the body that gin keeps for [gin.Context.ShouldBindBodyWith], and nil if it
// keeps none.
func keptBody(c *gin.Context) []byte {
	kept, _ := c.Get(gin.BodyBytesKey)
	body, _ := kept.([]byte)
	return body
}

// replay is a body that has been read, to be read again.
type replay struct {
	*bytes.Reader
	io.Closer
}

// putBack returns a body to be read in place of the one that was read.
func putBack(read []byte, from io.ReadCloser) io.ReadCloser {
	if from == nil {
		from = http.NoBody
	}
	return replay{bytes.NewReader(read), from}
}

// unreadBody says why the body could not be read.
func unreadBody(ctx context.Context, err error) error {
	tooLarge, isTooLarge := errors.AsType[*http.MaxBytesError](err)
	network, isNetwork := errors.AsType[net.Error](err)
	switch {
	case isTooLarge:
		// The limit may be that of a reader that other middleware put around the body.
		return &TooLargeError{tooLarge.Limit}
	case errors.Is(err, os.ErrDeadlineExceeded), isNetwork && network.Timeout():
		return NewProblem(http.StatusRequestTimeout, "request-timeout", "the body took too long to arrive")
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.Canceled):
		return fmt.Errorf("middleware: reading the body: %w", context.Cause(ctx))
	case ctx.Err() != nil, isNetwork, errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), isClosedStream(err):
		return fmt.Errorf("%w: %w", ErrClientGone, err)
	default:
		return &lockspec.InvalidError{Reason: "the body could not be read", Err: err}
	}
}

// isClosedStream reports that an HTTP/2 connection ended. net/http has no name for the error.
func isClosedStream(err error) bool { return err.Error() == "client disconnected" }
