package middleware

import (
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin/binding"

	"github.com/pathlock-go/pathlock/internal/shown"
	"github.com/pathlock-go/pathlock/lockspec"
)

// unsupported is the error of a body with these content types, of which a handler would read the
// values of the spec in another way than the middleware.
func unsupported(said, want []string) error {
	is := "has none"
	if len(said) > 0 {
		is = fmt.Sprintf("is said to be %q", shown.Cut(strings.Join(said, ", ")))
	}
	return NewProblem(http.StatusUnsupportedMediaType, "unsupported-media-type",
		fmt.Sprintf("unsupported content type: the body %s, and should be %s, in UTF-8", is, strings.Join(want, " or ")))
}

// wantJSON makes sure that handlers read the body as JSON, by whichever of gin's methods. It sets
// the type of a request that has none to JSON: [gin.Context.ShouldBind] would take the body for a
// form, and look into the query.
func (v *values) wantJSON() error {
	if err := v.wantBody(); err != nil {
		return err
	}
	return v.wantJSONType()
}

// wantJSONType is wantJSON for any method.
func (v *values) wantJSONType() error {
	if v.hasNoType() {
		v.c.Request.Header.Set("Content-Type", binding.MIMEJSON)
		return nil
	}
	return v.wantType(append([]string{binding.MIMEJSON}, v.config.JSONTypes...))
}

// wantForm makes sure that handlers read the body as a form. A missing body needs no type.
func (v *values) wantForm() error {
	if err := v.wantBody(); err != nil {
		return err
	}
	want := []string{binding.MIMEPOSTForm, binding.MIMEMultipartPOSTForm}
	if !v.hasNoType() {
		return v.wantType(want)
	}
	if err := v.readBody(); err != nil {
		return err
	}
	if len(v.body) > 0 {
		return unsupported(nil, want)
	}
	return nil
}

// hasNoType reports whether the request has no content type.
func (v *values) hasNoType() bool {
	headers := v.c.Request.Header.Values("Content-Type")
	return len(headers) == 0 || len(headers) == 1 && headers[0] == ""
}

// wantBody refuses methods for which gin binds the query and not the body.
func (v *values) wantBody() error {
	if method := v.c.Request.Method; method == http.MethodGet || method == http.MethodHead {
		return &lockspec.InvalidError{Reason: fmt.Sprintf("the values of a %s cannot be in its body", method)}
	}
	return nil
}

// wantType refuses a body of another type than those in want. gin compares what is before the first
// space or semicolon byte by byte. So wantType rewrites a header that means one of the types by RFC
// 9110, in capitals for example.
func (v *values) wantType(want []string) error {
	header := v.c.Request.Header
	said := header.Values("Content-Type")
	if len(said) != 1 {
		return unsupported(said, want)
	}
	parsed, params, err := mime.ParseMediaType(said[0])
	if err != nil || !slices.Contains(want, parsed) || !isUTF8(params["charset"]) {
		return unsupported(said, want)
	}
	if parsed != v.c.ContentType() {
		rewritten := mime.FormatMediaType(parsed, params)
		if rewritten == "" {
			return unsupported(said, want)
		}
		header.Set("Content-Type", rewritten)
	}
	return nil
}

// isUTF8 reports whether text in this character set may be read as UTF-8.
func isUTF8(charset string) bool {
	switch strings.ToLower(charset) {
	case "", "utf-8", "utf8", "us-ascii":
		return true
	default:
		return false
	}
}
