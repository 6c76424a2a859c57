package middleware

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"
)

// ginContextKey is the key under which the request of a [lockspec.Func] has its gin context.
type ginContextKey struct{}

// GinContext returns the gin context of the request that a [lockspec.Extract] is called with, so
// that it finds what earlier middleware has set there, such as who the user is. It returns nil for
// any other request, those of handlers included.
func GinContext(r *http.Request) *gin.Context {
	c, _ := r.Context().Value(ginContextKey{}).(*gin.Context)
	return c
}

// withGinContext returns the request of c for a [lockspec.Extract].
func withGinContext(c *gin.Context) *http.Request {
	return c.Request.WithContext(context.WithValue(c.Request.Context(), ginContextKey{}, c))
}
