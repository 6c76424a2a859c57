package middleware

import (
	"cmp"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
)

// RequestIDHeader is the header that [HeaderRequestID] reads.
const RequestIDHeader = "X-Request-ID"

// HeaderRequestID returns the id in the header [RequestIDHeader] of the request. If it has none, it
// returns that of the response, where middleware that makes ids puts them. It is the default of
// [Config.RequestID].
func HeaderRequestID(c *gin.Context) string {
	return cmp.Or(c.GetHeader(RequestIDHeader), c.Writer.Header().Get(RequestIDHeader))
}

// origin is where the locks of the request come from.
func (v *visit) origin() pathlock.Origin {
	return pathlock.Origin{
		Operation: v.spec.Operation(),
		Route:     v.c.Request.Method + " " + v.c.FullPath(),
		RequestID: v.config.RequestID(v.c),
	}
}
