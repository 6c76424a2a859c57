package httpapi

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"fmt"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// pageFiles are the app's page, and those that it names: a client of the HTTP interface, written in
// plain ES modules, which asks no other host for anything.
//
//go:embed assets
var pageFiles embed.FS

// pagePolicy lets the page load and ask nothing but its own server, and lets no text become code.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// mainPage is the name of the page itself.
const mainPage = "page.html"

// servePage serves the page or one of its files.
func (a *api) servePage(c *gin.Context, name string) {
	content, err := pageFiles.ReadFile("assets/" + name)
	if err != nil {
		a.refuseRoute(c)
		return
	}
	c.Header("Content-Security-Policy", pagePolicy)
	c.Header("Referrer-Policy", "no-referrer")
	send(c.Writer, c.Request, mime.TypeByExtension(path.Ext(name)), content)
}

// send serves content that browsers may keep, and ask each time whether it has changed. Its tag is
// weak: the answer may be compressed. It knows no ranges and no other conditions, whose refusals
// would be no problem+json.
func send(w http.ResponseWriter, r *http.Request, kind string, content []byte) {
	tag := fmt.Sprintf(`W/"%x"`, sha256.Sum224(content))
	w.Header().Set("Cache-Control", "private, no-cache")
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(content) // the client may have gone
}

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
