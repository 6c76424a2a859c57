package httpapi

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/sample-app/internal/page"
)

// listed is a line of the index.
type listed struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Body   string `json:"body,omitempty"`
}

const about = "pathlock's sample app: a test-plan backend. A project holds plans, a plan is a tree of suites, a suite holds cases."

// index says what this is, and lists the routes. It answers with JSON if
// the client asks for it, and with text otherwise. A client that asks for HTML gets the page, if
// there is one.
func (a *api) index(engine *gin.Engine, front *page.Page) gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Header("Vary", "Accept")
		format := c.NegotiateFormat(gin.MIMEPlain, gin.MIMEHTML, gin.MIMEJSON)
		if front != nil && format == gin.MIMEHTML {
			front.ServeHTTP(c.Writer, c.Request)
			return
		}
		routes := a.list(engine)
		if format == gin.MIMEJSON {
			c.JSON(http.StatusOK, gin.H{"about": about, "routes": routes})
			return
		}
		var b strings.Builder
		_, _ = fmt.Fprintf(&b, "%s\n\nRoutes:\n\n", about)
		for _, r := range routes {
			b.WriteString(strings.TrimRight(fmt.Sprintf("%-6s %-36s %s", r.Method, r.Path, r.Body), " ") + "\n")
		}
		b.WriteString("\nBodies are application/json, failures application/problem+json. There is no authentication.\n" +
			"Locking a suite returns a token. Requests with the header Lock-Token pass the lock, others get 423.\n")
		c.String(http.StatusOK, "%s", b.String())
	}
}

// list returns the engine's routes, ordered by path. Those below the admin page are the page's own
// business, and HEAD is wherever GET is.
func (a *api) list(engine *gin.Engine) (routes []listed) {
	examples := map[string]string{}
	for _, r := range a.all() {
		examples[r.method+" "+r.path] = r.example
	}
	for _, r := range engine.Routes() {
		if !strings.HasPrefix(r.Path, adminPath+"/") && r.Method != http.MethodHead {
			routes = append(routes, listed{r.Method, r.Path, examples[r.Method+" "+r.Path]})
		}
	}
	slices.SortFunc(routes, func(a, b listed) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
	})
	return routes
}
