package httpapi

import (
	"context"
	"errors"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/middleware"
)

// gone ends a request whose client has gone away, and reports whether it was one. Whatever the work stumbled
// over when it was cut off is no failure of this server: a driver whose connection was taken from it in the
// middle of a statement says that the database is gone.
func (a *api) gone(c *gin.Context) bool {
	cause := context.Cause(c.Request.Context())
	if !errors.Is(cause, context.Canceled) || errors.Is(cause, pathlock.ErrLost) {
		return false
	}
	a.leave(c)
	return true
}

// leave ends a request that nobody waits for.
func (a *api) leave(c *gin.Context) {
	a.log.InfoContext(c.Request.Context(), "the client went away",
		"method", c.Request.Method, "path", c.Request.URL.Path, "status", middleware.StatusClientGone)
	c.AbortWithStatus(middleware.StatusClientGone)
}
