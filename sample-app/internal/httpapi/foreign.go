package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/internal/ownhost"
	"github.com/pathlock-go/pathlock/middleware"
)

// refuseForeignHosts keeps a page of another site from having a name of its own resolved to this
// server's address: a browser would take the server for the site's own. It also says what browsers
// are to do with answers: to take them for what they say they are, and to keep none, since some
// contain the tokens of locks. The page's files, which browsers may keep, say so themselves.
func (a *api) refuseForeignHosts() gin.HandlerFunc {
	names := ownhost.New(a.Hosts...)
	return func(c *gin.Context) {
		c.Header("X-Content-Type-Options", "nosniff")
		c.Header("Cache-Control", "no-store")
		if !names.Are(c.Request) {
			a.refuseUnread(c, middleware.NewProblem(http.StatusMisdirectedRequest, "misdirected",
				"the server does not answer under this name; if it should, as behind a proxy on the same host, list the name in --hosts"))
		}
	}
}

// refuseForeignOrigins keeps a page of another site from writing through the browser of somebody
// who can reach this server. It lets programs through that are not browsers: they send no origin.
func (a *api) refuseForeignOrigins() gin.HandlerFunc {
	protection := http.NewCrossOriginProtection()
	return func(c *gin.Context) {
		if protection.Check(c.Request) != nil {
			a.refuseUnread(c, middleware.NewProblem(http.StatusForbidden, "foreign-origin", "a page of another origin may not write here"))
		}
	}
}
