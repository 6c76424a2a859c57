package httpapi

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// index says what this is, and lists the engine's routes, ordered by path. Those below the admin
// page are the page's own business, and HEAD is wherever GET is.
func (a *api) index(engine *gin.Engine) gin.HandlerFunc {
	examples := map[string]string{}
	for _, r := range a.all() {
		examples[r.method+" "+r.path] = r.example
	}
	return func(c *gin.Context) {
		routes := slices.SortedFunc(slices.Values(engine.Routes()), func(a, b gin.RouteInfo) int {
			return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
		})
		var b strings.Builder
		b.WriteString("pathlock's sample app: a test-plan backend. A project holds plans, a plan is a tree of suites, a suite holds cases.\n\nRoutes:\n\n")
		for _, r := range routes {
			if !strings.HasPrefix(r.Path, adminPath+"/") && r.Method != http.MethodHead {
				b.WriteString(strings.TrimRight(fmt.Sprintf("%-6s %-36s %s", r.Method, r.Path, examples[r.Method+" "+r.Path]), " ") + "\n")
			}
		}
		b.WriteString("\nBodies are application/json, failures application/problem+json. There is no authentication.\n" +
			"Locking a suite returns a token. Requests with the header Lock-Token pass the lock, others get 423.\n")
		c.String(http.StatusOK, "%s", b.String())
	}
}
