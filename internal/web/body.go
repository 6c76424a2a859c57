package web

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"time"
)

var (
	// ErrTimeout is the error of a body that took too long to arrive.
	ErrTimeout = errors.New("the body took too long to arrive")
	// ErrTooLarge is the error of a body that is longer than the limit.
	ErrTooLarge = errors.New("the body is too large")
	// ErrGone is the error of a body that earlier code has read.
	ErrGone = errors.New("earlier code has read the body, and has not put it back")
)

// The bounds of [ReadBody] that the settings named MaxBody and BodyTimeout default to.
const (
	DefaultMaxBody     = 1 << 20
	DefaultBodyTimeout = 10 * time.Second
)

// keeper is the context of gin, which may keep what it has read of a body.
type keeper interface {
	Get(key any) (value any, exists bool)
	Set(key, value any)
}

// bodyBytesKey is gin.BodyBytesKey.
const bodyBytesKey = "_gin-gonic/gin/bodybyteskey"

// ReadBody returns the body of a request before the work on it begins, unless it is longer than a
// limit in bytes. So nobody waits for that work while a client sends its body byte by byte.
// Handlers read it as if it had not been read, after an error, too. A body that is known to be
// longer stays unread: its handler has to wait for most of it in any case.
//
// Earlier middleware may have read the body by gin's ShouldBindBodyWith, which keeps what it reads,
// and may have replaced it since. Then the replacement counts, and gin keeps the same afterwards:
// handlers may read either. A body that it has read in another way is gone; if its length was not
// declared, nothing tells it from an empty one.
//
// The wait for the body is bounded if the timeout is positive, the connection takes read deadlines
// and the server has no limit of its own. The error is ErrTimeout if either bound is reached. Then
// the bound stays, and the connection is closed after the answer: the rest of the body would look
// like another request.
func ReadBody(w http.ResponseWriter, r *http.Request, c keeper, limit int64, timeout time.Duration) ([]byte, error) {
	body, err := read(w, r, limit, timeout)
	kept, _ := c.Get(bodyBytesKey)
	switch kept, _ := kept.([]byte); {
	case err != nil:
		return nil, err
	case kept == nil && len(body) == 0 && (r.ContentLength > 0 || len(r.PostForm) > 0 || r.MultipartForm != nil):
		return nil, ErrGone
	case kept == nil:
	case len(body) > 0:
		c.Set(bodyBytesKey, body)
	case int64(len(kept)) > limit:
		return nil, ErrTooLarge
	default:
		body, r.Body = kept, io.NopCloser(bytes.NewReader(kept))
	}
	return body, nil
}

// read is ReadBody of what the request itself has.
func read(w http.ResponseWriter, r *http.Request, limit int64, timeout time.Duration) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody || r.Method == http.MethodConnect {
		return nil, nil
	}
	if r.ContentLength > limit {
		return nil, ErrTooLarge
	}
	lift := bound(w, r, timeout)
	body, err := io.ReadAll(io.LimitReader(r.Body, max(limit, limit+1))) // which may overflow
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() || errors.Is(err, os.ErrDeadlineExceeded) {
		w.Header().Set("Connection", "close")
		return nil, ErrTimeout
	}
	lift()
	// What comes after it comes again: the rest, its end, or the error.
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
	if err == nil && int64(len(body)) > limit {
		err = ErrTooLarge
	}
	return body, err
}

// bound sets the time until which the body may be waited for. It returns a function that lifts the
// bound.
func bound(w http.ResponseWriter, r *http.Request, timeout time.Duration) (lift func()) {
	server, ok := r.Context().Value(http.ServerContextKey).(*http.Server)
	if timeout <= 0 || ok && server.ReadTimeout > 0 {
		return func() {}
	}
	for ; w != nil; w = embedded(w) {
		connection := http.NewResponseController(w)
		if connection.SetReadDeadline(time.Now().Add(timeout)) == nil {
			return func() { _ = connection.SetReadDeadline(time.Time{}) }
		}
	}
	return func() {}
}

// embedded returns the writer that a struct embeds, nil if it embeds none. Programs wrap
// gin.ResponseWriter, which has no Unwrap, in this way.
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

// escapes matches an escape of JSON that stands for a whole character, by two halves or by one.
var escapes = regexp.MustCompile(`\\(u[dD][89abAB]..\\u[dD][c-fC-F]..|u([^dD].|[dD][0-7])..|[^u])`)

// HasHalfPair reports whether valid JSON has half of a surrogate pair, such as "\ud83d", which
// decoders replace by U+FFFD. U+FFFD itself is a character.
func HasHalfPair(json []byte) bool {
	return bytes.IndexByte(escapes.ReplaceAll(json, nil), '\\') >= 0
}
