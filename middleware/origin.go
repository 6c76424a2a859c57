package middleware

import (
	"cmp"
	"context"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
)

// requestIDHeader is the header that [headerRequestID] reads.
const requestIDHeader = "X-Request-Id"

// headerRequestID is the default of [Config.RequestID].
func headerRequestID(c *gin.Context) string {
	return cmp.Or(c.GetHeader(requestIDHeader), c.Writer.Header().Get(requestIDHeader))
}

// withOrigin returns the context of a request with where its locks come from.
func (m *Locks) withOrigin(c *gin.Context, spec lockspec.Spec) context.Context {
	return pathlock.WithOrigin(c.Request.Context(), pathlock.Origin{
		Operation: spec.Operation(),
		Route:     c.Request.Method + " " + c.FullPath(),
		RequestID: m.config.RequestID(c),
	})
}
