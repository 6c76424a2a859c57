package httpapi

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
	"github.com/pathlock-go/pathlock/idempotency"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/sample-app/internal/changes"
	"github.com/pathlock-go/pathlock/sample-app/internal/database"
	"github.com/pathlock-go/pathlock/sample-app/internal/lockview"
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
	// Locks shows the locks of plans, and Feed their changes.
	Locks *lockview.View
	Feed  *changes.Feed
	// Admin answers below /admin/locks.
	Admin http.Handler
	DB    *database.DB
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
	Observe gin.HandlerFunc
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
	if err := engine.SetTrustedProxies(nil); err != nil {
		return nil, fmt.Errorf("httpapi: %w", err)
	}
	engine.NoRoute(func(c *gin.Context) {
		a.refuseUnread(c, middleware.NewProblem(http.StatusNotFound, "not-found", "there is no such route: GET /routes lists them"))
	})
	engine.NoMethod(func(c *gin.Context) {
		a.refuseUnread(c, middleware.NewProblem(http.StatusMethodNotAllowed, "method-not-allowed",
			"the route does not know this method: it takes "+c.Writer.Header().Get("Allow")))
	})
	engine.Use(config.Observe, gin.CustomRecoveryWithWriter(nil, a.recovered),
		a.refuseForeignHosts(), a.refuseForeignOrigins())
	// The admin page reads its bodies itself, and takes none without a type.
	engine.Match([]string{http.MethodGet, http.MethodHead}, adminPath, gin.WrapH(config.Admin))
	engine.Match([]string{http.MethodGet, http.MethodHead, http.MethodPost}, adminPath+"/*any", gin.WrapH(config.Admin))
	engine.Use(a.readBody, a.checkParams)
	table, err := a.table()
	if err != nil {
		return nil, err
	}
	if err := a.routes(engine, table); err != nil {
		return nil, err
	}
	if err := middleware.CheckRoutes(engine, table); err != nil {
		return nil, fmt.Errorf("httpapi: %w", err)
	}
	return engine, nil
}

// recovered answers a request whose handler panicked.
func (a *api) recovered(c *gin.Context, cause any) {
	a.fail(c, fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
}
