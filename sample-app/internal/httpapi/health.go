package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/middleware"
)

// pingTimeout is how long the database and the lock store may take to say that they are there.
const pingTimeout = 2 * time.Second

// alive says that the process runs.
func (a *api) alive(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"status": "ok"}) }

// ready says whether requests can be served: the database and the lock store answer.
func (a *api) ready(c *gin.Context) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), pingTimeout)
	defer cancel()
	if err := a.DB.Ping(ctx); err != nil {
		a.locks.Fail(c, middleware.Later(http.StatusServiceUnavailable, "database-unavailable", "the database does not answer"))
		return
	}
	if err := a.Locker.Ping(ctx); err != nil {
		a.locks.Fail(c, middleware.Later(http.StatusServiceUnavailable, "lock-store-unavailable", "the lock store does not answer"))
		return
	}
	c.JSON(http.StatusOK, gin.H{"status": "ready"})
}
