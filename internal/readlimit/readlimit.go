// Package readlimit bounds the wait for the body of a request.
package readlimit

import (
	"errors"
	"net"
	"net/http"
	"os"
	"reflect"
	"time"
)

// Begin bounds the wait for the body of r, which w answers, if the timeout is positive, the
// connection takes deadlines and the server has no limit of its own. It returns a function that
// lifts the bound. After a read that was [Exceeded], the bound stays, and the connection is to be
// closed: the rest of the body would look like another request.
func Begin(w http.ResponseWriter, r *http.Request, timeout time.Duration) (lift func()) {
	none := func() {}
	if timeout <= 0 {
		return none
	}
	if s, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok && s.ReadTimeout > 0 {
		return none
	}
	connection := deadlines(w)
	if connection == nil || connection.SetReadDeadline(time.Now().Add(timeout)) != nil {
		return none
	}
	return func() { _ = connection.SetReadDeadline(time.Time{}) }
}

// Exceeded reports whether a read has ended by a bound.
func Exceeded(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout() || errors.Is(err, os.ErrDeadlineExceeded)
}

// deadlined is a connection that takes read deadlines.
type deadlined interface{ SetReadDeadline(time.Time) error }

// deadlines returns the connection of a response, as [http.ResponseController] finds it. It returns
// nil if the connection takes no deadlines.
func deadlines(w http.ResponseWriter) deadlined {
	for {
		switch inner := w.(type) {
		case deadlined:
			return inner
		case interface{ Unwrap() http.ResponseWriter }:
			w = inner.Unwrap()
		default:
			if w = embedded(w); w == nil {
				return nil
			}
		}
	}
}

// embedded returns the writer that a struct embeds, nil if it embeds none. Programs wrap
// [gin.ResponseWriter], which has no Unwrap, in this way.
func embedded(w http.ResponseWriter) http.ResponseWriter {
	wrapper := reflect.Indirect(reflect.ValueOf(w))
	if wrapper.Kind() != reflect.Struct {
		return nil
	}
	field := wrapper.FieldByName("ResponseWriter")
	if !field.IsValid() || !field.CanInterface() {
		return nil
	}
	inner, _ := field.Interface().(http.ResponseWriter)
	return inner
}
