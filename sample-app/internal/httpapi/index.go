package httpapi

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/sample-app/internal/page"
)

// bodies are example bodies of the routes, for the index.
var bodies = map[string]string{
	"POST /api/projects/:project/plans": `{"name":"release 1"}`,
	"PATCH /api/plans/:plan":            `{"name":"release 2"}`,
	"POST /api/plans/:plan/import":      `{"suites":["shop/basket"],"cases":[{"path":"shop/pay by card","body":"1. …"}]}`,
	"POST /api/plans/:plan/suites":      `{"parent_id":1,"name":"login"}`,
	"PATCH /api/suites/:id":             `{"name":"sign-in"}`,
	"POST /api/suites/:id/move":         `{"parent_id":1}`,
	"POST /api/suites/:id/copy":         `{"parent_id":1,"name":"copy"}`,
	"POST /api/suites/:id/lock":         `{"for":"10m","note":"Anna edits the steps"}`,
	"PUT /api/suites/:id/lock":          `{"for":"10m"}`,
	"POST /api/suites/:id/cases":        `{"name":"wrong password","body":"1. …"}`,
	"PATCH /api/cases/:id":              `{"body":"2. …"}`,
	"POST /api/cases/:id/move":          `{"suite_id":1}`,
	"POST /api/cases/:id/copy":          `{"suite_id":1,"name":"copy"}`,
}

// route is a line of the index.
type route struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Body   string `json:"body,omitempty"`
}

const about = "pathlock's sample app: a test-plan backend. A project holds plans, a plan is a tree of suites, a suite holds cases."

// index says what this is, lists the routes, and suggests a first request. It answers with JSON if
// the client asks for it, and with text otherwise. A client that asks for HTML gets the page, if
// there is one.
func index(engine *gin.Engine, front *page.Page) gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Header("Vary", "Accept")
		format := c.NegotiateFormat(gin.MIMEPlain, gin.MIMEHTML, gin.MIMEJSON)
		if front != nil && format == gin.MIMEHTML {
			front.ServeHTTP(c.Writer, c.Request)
			return
		}
		routes, try := listed(engine), try(c.Request.Host)
		if format == gin.MIMEJSON {
			c.JSON(http.StatusOK, gin.H{"about": about, "try": try, "routes": routes})
			return
		}
		var b strings.Builder
		_, _ = fmt.Fprintf(&b, "%s\n\nTry:\n\n%s\n\nRoutes:\n\n", about, try)
		for _, r := range routes {
			b.WriteString(strings.TrimRight(fmt.Sprintf("%-6s %-36s %s", r.Method, r.Path, r.Body), " ") + "\n")
		}
		b.WriteString("\nBodies are application/json, failures application/problem+json. There is no authentication.\n" +
			"Locking a suite returns a token. Requests with the header Lock-Token pass the lock, others get 423.\n")
		c.String(http.StatusOK, "%s", b.String())
	}
}

// listed returns the engine's routes, ordered by path. Those below the admin page are the page's
// own business, and HEAD is wherever GET is.
func listed(engine *gin.Engine) []route {
	var routes []route
	for _, r := range engine.Routes() {
		if strings.HasPrefix(r.Path, adminPath+"/") || r.Method == http.MethodHead {
			continue
		}
		routes = append(routes, route{r.Method, r.Path, bodies[r.Method+" "+r.Path]})
	}
	slices.SortFunc(routes, func(a, b route) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
	})
	return routes
}

var plainHost = regexp.MustCompile(`^[A-Za-z0-9.-]+(:[0-9]+)?$|^\[[0-9a-fA-F:]+\](:[0-9]+)?$`)

// try returns a command that creates the first plan, on the host that the client has asked.
func try(host string) string {
	if !plainHost.MatchString(host) {
		host = "127.0.0.1:8080" // a forged Host header must not end up in a shell command
	}
	return "curl -H 'Content-Type: application/json' -d '" + bodies["POST /api/projects/:project/plans"] + "' http://" + host + "/api/projects/demo/plans"
}
