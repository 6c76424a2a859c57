package middleware

import (
	"cmp"
	"context"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
)

// RequestIDHeader is the header that [HeaderRequestID] reads.
const RequestIDHeader = "X-Request-Id"

// HeaderRequestID returns the id in the header [RequestIDHeader] of the request. If it has none, it
// returns that of the response, where middleware that makes ids puts them. It is the default of
// [Config.RequestID].
func HeaderRequestID(c *gin.Context) string {
	return cmp.Or(c.GetHeader(RequestIDHeader), c.Writer.Header().Get(RequestIDHeader))
}

// withOrigin returns the context of a request with where its locks come from.
func (m *Locks) withOrigin(c *gin.Context, spec lockspec.Spec) context.Context {
	return pathlock.WithOrigin(c.Request.Context(), pathlock.Origin{
		Operation: spec.Operation(),
		Route:     c.Request.Method + " " + c.FullPath(),
		RequestID: m.config.RequestID(c),
	})
}
