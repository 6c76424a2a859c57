package middleware

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"

	"github.com/pathlock-go/pathlock/internal/shown"
	"github.com/pathlock-go/pathlock/internal/web"
	"github.com/pathlock-go/pathlock/lockspec"
)

// values finds the values of a spec's sources in one request.
type values struct {
	locks *Locks
	c     *gin.Context
	// body was read ahead, or unread says why not.
	body   []byte
	unread error
	// parsed is set once it is known how handlers read the body. form has it if it is a form.
	parsed bool
	form   *http.Request
}

// get returns the values of a source, as [lockspec.Spec.Read] wants them.
func (v *values) get(src lockspec.Source) ([]string, error) {
	switch src.From() {
	case lockspec.FromParam:
		return v.params(src.Name()), nil
	case lockspec.FromQuery:
		return fieldValues(src, v.c.QueryArray(src.Name())), nil
	case lockspec.FromHeader:
		return fieldValues(src, v.c.Request.Header.Values(src.Name())), nil
	case lockspec.FromFunc:
		value, ok, err := src.Extract(v.c.Request.WithContext(withGinContext(v.c.Request.Context(), v.c)), v.c.Param)
		if err != nil || !ok {
			return nil, err
		}
		return []string{value}, nil
	default: // FromJSON, FromForm
		return v.fromBody(src)
	}
}

// params returns all values of a parameter. If groups repeat its name, it has several: gin's Param
// takes the first, and ShouldBindUri the last.
func (v *values) params(name string) (values []string) {
	for _, p := range v.c.Params {
		if p.Key == name {
			values = append(values, p.Value)
		}
	}
	return values
}

// fieldValues returns the values that a source takes from a repeated field: all of a list, and
// otherwise the first, as gin's handlers read it.
func fieldValues(src lockspec.Source, values []string) []string {
	if src.IsEach() {
		return values
	}
	return values[:min(len(values), 1)]
}

// fromBody finds a field of the body, which has the same format for all sources of the spec.
// A missing body lacks it.
//
// It refuses a field of a form that is in the query too: some of gin's and net/http's ways to read
// a form look there first, some last and some not at all.
func (v *values) fromBody(src lockspec.Source) ([]string, error) {
	isForm := src.From() == lockspec.FromForm
	if !v.parsed {
		if err := v.parse(isForm); err != nil {
			return nil, err
		}
		v.parsed = true
	}
	switch {
	case isForm && v.c.Request.URL.Query().Has(src.Name()):
		return nil, &lockspec.InvalidError{Field: src.Name(), Reason: "is in the query, but may only be in the body"}
	case isForm:
		return fieldValues(src, v.form.PostForm[src.Name()]), nil
	case len(v.body) == 0:
		return nil, nil
	}
	return lockspec.JSONValues(v.body, src)
}

// parse makes sure that handlers read the body as JSON, or as a form. A form without a body needs
// no type.
func (v *values) parse(isForm bool) (err error) {
	r := v.c.Request
	// Of these, gin binds the query and not the body.
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return &lockspec.InvalidError{Reason: fmt.Sprintf("a %s cannot have its values in the body", r.Method)}
	}
	switch {
	case !isForm:
		err = v.locks.wantJSON(v.c)
	case len(v.body) > 0 || !hasNoType(r.Header):
		err = wantType(v.c, binding.MIMEPOSTForm, binding.MIMEMultipartPOSTForm)
	}
	switch {
	case err != nil:
		return err
	case isForm && errors.Is(v.unread, web.ErrGone) && (len(r.PostForm) > 0 || r.MultipartForm != nil):
		return v.parseForm() // earlier code has parsed it
	case v.unread != nil:
		return v.locks.unreadBody(r.Context(), v.unread)
	case isForm:
		return v.parseForm()
	}
	return nil
}

// parseForm reads the body as a form, in a copy of the request.
func (v *values) parseForm() error {
	v.form = v.c.Request.Clone(v.c.Request.Context())
	v.form.Body = io.NopCloser(bytes.NewReader(v.body))
	err := v.form.ParseForm()
	if err == nil {
		// The whole body is in memory already, so its files may stay there too.
		err = v.form.ParseMultipartForm(v.locks.config.MaxBody)
	}
	if err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return &lockspec.InvalidError{Reason: "the form or the query is malformed, or the content type has no boundary", Err: err}
	}
	return nil
}

// wantJSON makes sure that handlers read the body as JSON, whichever of gin's methods they use. It
// sets the type of a request that has none to JSON: [gin.Context.ShouldBind] would take the body
// for a form, and look into the query.
func (m *Locks) wantJSON(c *gin.Context) error {
	if hasNoType(c.Request.Header) {
		setType(c, binding.MIMEJSON)
		return nil
	}
	return wantType(c, append([]string{binding.MIMEJSON}, m.config.JSONTypes...)...)
}

// hasNoType reports whether a request has no content type.
func hasNoType(header http.Header) bool {
	return strings.Join(header.Values("Content-Type"), ",") == ""
}

// wantType refuses a body of another type than those in want, and one that is not in UTF-8. gin
// compares what is before the first space or semicolon byte by byte. So wantType rewrites a header
// that means one of the types by RFC 9110, in capitals for example.
func wantType(c *gin.Context, want ...string) error {
	headers := c.Request.Header.Values("Content-Type")
	said := strings.Join(headers, ", ")
	parsed, params, err := mime.ParseMediaType(said)
	isUTF8 := slices.Contains([]string{"", "utf-8", "utf8", "us-ascii"}, strings.ToLower(params["charset"]))
	if err != nil || len(headers) != 1 || !slices.Contains(want, parsed) || !isUTF8 {
		return NewProblem(http.StatusUnsupportedMediaType, "unsupported-media-type", fmt.Sprintf(
			"unsupported content type: the body is declared as %q, but must be %s, in UTF-8", shown.Cut(said), strings.Join(want, " or ")))
	}
	if parsed != c.ContentType() {
		setType(c, cmp.Or(mime.FormatMediaType(parsed, params), parsed))
	}
	return nil
}

// setType gives c a copy of its request with another content type. A copy of c may be reading the
// headers.
func setType(c *gin.Context, kind string) {
	c.Request = c.Request.WithContext(c.Request.Context())
	c.Request.Header = c.Request.Header.Clone()
	c.Request.Header.Set("Content-Type", kind)
}

// ginContextKey is the key under which contexts have their gin context: see GinContext.
type ginContextKey struct{}

// GinContext returns a copy of a request's gin context. ctx is the context under which a resolver
// looks up the request's ids or, in the function of a [lockspec.Func], the request's context. The
// copy has what earlier middleware has set, such as the user. Values that you set stay in the copy,
// and it cannot answer. GinContext returns nil for any other context, including those of handlers.
func GinContext(ctx context.Context) *gin.Context {
	if c, ok := ctx.Value(ginContextKey{}).(*gin.Context); ok {
		return c.Copy()
	}
	return nil
}

// withGinContext returns a context in which [GinContext] finds c.
func withGinContext(ctx context.Context, c *gin.Context) context.Context {
	return context.WithValue(ctx, ginContextKey{}, c)
}

// ReadJSON returns the body of a request as the middleware reads it for a spec. It is for your own
// handlers and middleware that look into the body. The body is complete, has at most
// [Config.MaxBody] bytes, arrived within [Config.BodyTimeout], and has the type application/json or
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
	case errors.Is(err, web.ErrGone):
		return fmt.Errorf("middleware: %w", err)
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
