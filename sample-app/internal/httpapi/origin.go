package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/middleware"
)

// refuseForeignOrigins keeps a page of another site from writing with the browser of somebody who
// can reach this server. Programs that are no browsers say nothing of an origin, and are not
// concerned.
func (a *api) refuseForeignOrigins() gin.HandlerFunc {
	protection := http.NewCrossOriginProtection()
	return func(c *gin.Context) {
		if protection.Check(c.Request) != nil {
			a.refuseUnread(c, middleware.NewProblem(http.StatusForbidden, "foreign-origin",
				"a page of another origin may not write here"))
		}
	}
}
