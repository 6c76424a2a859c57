// Package httpapi is the HTTP interface of the test-plan backend.
//
// Each request passes four stations. Its ids and its body are read and checked. Package middleware
// takes the locks that the route table names. The service does the work. A failure becomes a
// problem+json answer.
package httpapi

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/klauspost/compress/gzhttp"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
	"github.com/pathlock-go/pathlock/idempotency"
	"github.com/pathlock-go/pathlock/internal/web"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// Config is what the interface works with. All fields are required except Asserted, Hosts, Rule
// and BodyTimeout.
type Config struct {
	Service *plans.Service
	// Suites writes the tree. It is the service, or a writer without any protection to compare
	// with.
	Suites SuiteWriter
	// SuiteResolver and CaseResolver find the nodes of suite and case ids.
	SuiteResolver, CaseResolver pathlock.Resolver
	Locker                      *pathlock.Locker
	// Keys knows the requests that were sent again.
	Keys *idempotency.Keys
	// Admin answers below /admin/locks.
	Admin http.Handler
	DB    *plans.DB
	// Asserted says that the plugin asserts every write to suites and cases.
	Asserted bool
	// Hosts are the names that the server goes by: see [admin.Config].
	Hosts []string
	// Rule is how much of a plan a change of its tree locks.
	Rule Rule
	// Namespace is the lock namespace of the plans' trees, whose ids are the plans' ids. Plan names
	// are locked in the namespace with "-names" appended.
	Namespace string
	// Metrics answers /metrics, and Observe sees every request.
	Metrics http.Handler
	Observe []gin.HandlerFunc
	Log     *slog.Logger
	// Draining says that the instance is about to end, so that /readyz keeps new clients away.
	Draining func() bool
	// BodyTimeout is how long a client may take to send a body: see [middleware.Config].
	BodyTimeout time.Duration
}

// adminPath is where the admin page is.
const adminPath = admin.DefaultPrefix

// api answers requests.
type api struct {
	Config
	locks *middleware.Locks
}

// New returns the interface. It fails if a route that changes something does not say what it locks.
func New(config Config) (http.Handler, error) {
	a := &api{Config: config}
	a.locks = middleware.New(config.Locker, config.SuiteResolver, middleware.Config{
		Resolvers:   resolvers(config.Service, config.Namespace, config.CaseResolver),
		MaxBody:     maxBody,
		BodyTimeout: config.BodyTimeout,
		OnError:     a.fail,
		Log:         config.Log,
	})
	engine := gin.New()
	engine.HandleMethodNotAllowed = true
	engine.RedirectTrailingSlash = false
	// Nothing here uses the client's address, so no header may claim one.
	engine.ForwardedByClientIP = false
	engine.NoRoute(a.refuseRoute)
	engine.NoMethod(func(c *gin.Context) {
		a.refuseUnread(c, middleware.NewProblem(http.StatusMethodNotAllowed, "method-not-allowed",
			"the route does not know this method: it takes "+c.Writer.Header().Get("Allow")))
	})
	engine.Use(config.Observe...)
	engine.Use(gin.CustomRecoveryWithWriter(nil, a.recovered),
		a.refuseForeignHosts(), a.refuseForeignOrigins())
	// The admin page reads its bodies itself, and takes none without a type.
	engine.Match([]string{http.MethodGet, http.MethodHead}, adminPath, gin.WrapH(config.Admin))
	engine.Match([]string{http.MethodGet, http.MethodHead, http.MethodPost}, adminPath+"/*any", gin.WrapH(config.Admin))
	engine.Use(a.readBody)
	routes := a.index(engine)
	handle(engine, "GET", "/", func(c *gin.Context) {
		c.Writer.Header().Add("Vary", "Accept")
		if c.NegotiateFormat(gin.MIMEPlain, gin.MIMEHTML) == gin.MIMEHTML {
			a.servePage(c, mainPage)
			return
		}
		routes(c)
	})
	handle(engine, "GET", "/page/:file", func(c *gin.Context) { a.servePage(c, c.Param("file")) })
	handle(engine, "GET", "/routes", routes)
	handle(engine, "GET", "/metrics", gin.WrapH(a.Metrics))
	engine.Use(a.checkParams)
	table := a.table()
	for _, r := range a.all() {
		a.register(engine, table, r)
	}
	if err := middleware.CheckRoutes(engine, table); err != nil {
		return nil, fmt.Errorf("httpapi: %w", err)
	}
	return gzhttp.GzipHandler(engine), nil
}

// refuseRoute answers a request for what is not there.
func (a *api) refuseRoute(c *gin.Context) {
	a.refuseUnread(c, middleware.NewProblem(http.StatusNotFound, "not-found", "there is no such route: GET /routes lists them"))
}

// checkParams refuses a request whose URL has an invalid id, before anything is done for it.
func (a *api) checkParams(c *gin.Context) {
	if c.FullPath() == "" {
		return // another answer is due
	}
	for _, p := range c.Params {
		var err error
		switch {
		case p.Key == "project":
			err = plans.CheckProject(p.Value)
		case parsed(p.Value) == 0:
			err = &plans.InvalidError{Field: p.Key, Reason: "must be a positive decimal integer"}
		}
		if err != nil {
			a.fail(c, err)
			return
		}
	}
}

// recovered answers a request whose handler panicked.
func (a *api) recovered(c *gin.Context, cause any) {
	a.fail(c, fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
}

// refuseForeignHosts keeps a page of another site from having a name of its own resolved to this
// server's address: a browser would take this server for the site's own. It also says what browsers
// are to do with answers: to take them for what they say they are, and to keep none, since some
// contain the tokens of locks. The page's files, which browsers may keep, say so themselves.
func (a *api) refuseForeignHosts() gin.HandlerFunc {
	names := web.NewHosts(a.Hosts...)
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
