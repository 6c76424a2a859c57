package middleware

import (
	"context"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/lockspec"
)

// values finds the values of a spec's sources in one request. It looks into the body for the first
// value in it, and leaves it to the handler as if it had not been read.
type values struct {
	c      *gin.Context
	spec   lockspec.Spec
	config *Config
	body   []byte
	read   bool
	json   map[string]lockspec.JSONValue
	form   *http.Request
}

// get is the [lockspec.Get] of the request.
func (v *values) get(src lockspec.Source) (value string, ok bool, err error) {
	switch src.From() {
	case lockspec.FromParam:
		value, ok = v.c.Params.Get(src.Name())
		return value, ok, nil
	case lockspec.FromQuery:
		value, ok = v.c.GetQuery(src.Name())
		return value, ok, nil
	case lockspec.FromHeader:
		values := v.c.Request.Header.Values(src.Name())
		if len(values) == 0 {
			return "", false, nil
		}
		return values[0], true, nil
	case lockspec.FromFunc:
		return src.Extract(withGinContext(v.c), v.c.Param)
	case lockspec.FromJSON:
		return v.jsonField(src.Name())
	case lockspec.FromForm:
		return v.formField(src.Name())
	default:
		return "", false, fmt.Errorf("middleware: there is no way to get a %s", src)
	}
}

// ginContextKey is the key under which the request of a [lockspec.Func] has its gin context.
type ginContextKey struct{}

// GinContext returns the gin context of the request that a [lockspec.Extract] gets. It has what
// earlier middleware has set, such as the user. GinContext returns nil for any other request, those
// of handlers included.
func GinContext(r *http.Request) *gin.Context {
	c, _ := r.Context().Value(ginContextKey{}).(*gin.Context)
	return c
}

// withGinContext returns the request of c for a [lockspec.Extract].
func withGinContext(c *gin.Context) *http.Request {
	return c.Request.WithContext(context.WithValue(c.Request.Context(), ginContextKey{}, c))
}
