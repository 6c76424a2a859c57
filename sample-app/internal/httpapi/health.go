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
	"github.com/pathlock-go/pathlock/store/anystore"
)

// pingTimeout is how long the database and the lock store together may take to answer.
const pingTimeout = 2 * time.Second

// alive says that the process runs.
func alive(*gin.Context) (any, error) { return gin.H{"status": "ok"}, nil }

// ready checks that the database and the lock store answer and let this instance in. Otherwise it
// says what is wrong.
func (a *api) ready(c *gin.Context) (any, error) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), pingTimeout)
	defer cancel()
	if err := a.DB.Ping(ctx); err != nil {
		return nil, notReady("database", database.Trouble(err), err)
	}
	if err := a.Locker.Ping(ctx); err != nil {
		return nil, notReady("lock store", anystore.Trouble(err), err)
	}
	return gin.H{"status": "ready"}, nil
}

// notReady says to the client what is wrong. Only the log gets err, which has addresses.
func notReady(what, trouble string, err error) error {
	problem := middleware.Later(http.StatusServiceUnavailable, strings.ReplaceAll(what, " ", "-")+"-unavailable", "the "+what+" "+trouble)
	return fmt.Errorf("not ready: %w: %w", problem, err)
}
