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
func (v *values) get(src lockspec.Source) ([]string, error) {
	switch src.From() {
	case lockspec.FromParam:
		return single(v.c.Params.Get(src.Name()))
	case lockspec.FromQuery:
		return fieldValues(src, v.c.QueryArray(src.Name())), nil
	case lockspec.FromHeader:
		return fieldValues(src, v.c.Request.Header.Values(src.Name())), nil
	case lockspec.FromFunc:
		value, ok, err := src.Extract(withGinContext(v.c), v.c.Param)
		if err != nil {
			return nil, err
		}
		return single(value, ok)
	case lockspec.FromJSON:
		return v.jsonField(src)
	case lockspec.FromForm:
		values, err := v.formField(src.Name())
		return fieldValues(src, values), err
	default:
		return nil, fmt.Errorf("middleware: there is no way to get a %s", src)
	}
}

// single is the only value of a field, which is there if ok is set.
func single(value string, ok bool) ([]string, error) {
	if !ok {
		return nil, nil
	}
	return []string{value}, nil
}

// fieldValues is what a source takes of a repeated field: all of a list, and otherwise the first,
// which is what gin's handlers read.
func fieldValues(src lockspec.Source, values []string) []string {
	if src.IsEach() {
		return values
	}
	return values[:min(len(values), 1)]
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
