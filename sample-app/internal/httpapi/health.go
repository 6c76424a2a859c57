package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/sample-app/internal/database"
	"github.com/pathlock-go/pathlock/sample-app/internal/lockstore"
)

// pingTimeout is how long the database and the lock store may take to say that they are there.
const pingTimeout = 2 * time.Second

// alive says that the process runs.
func (a *api) alive(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"status": "ok"}) }

// ready says whether requests can be served, and if not, why: the database and the lock store
// answer, and let this instance in.
func (a *api) ready(c *gin.Context) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), pingTimeout)
	defer cancel()
	if err := a.DB.Ping(ctx); err != nil {
		a.notReady(c, "database", database.Trouble(err), err)
		return
	}
	if err := a.Locker.Ping(ctx); err != nil {
		a.notReady(c, "lock store", lockstore.Trouble(err), err)
		return
	}
	c.JSON(http.StatusOK, gin.H{"status": "ready"})
}

// notReady answers with what is the matter. Where it is the matter is for the log alone.
func (a *api) notReady(c *gin.Context, what, trouble string, err error) {
	problem := middleware.Later(http.StatusServiceUnavailable, strings.ReplaceAll(what, " ", "-")+"-unavailable", "the "+what+" "+trouble)
	a.fail(c, fmt.Errorf("not ready: %w: %w", problem, err))
}
