package httpapi

import (
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/middleware"
)

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
	// The client's address is of no interest here, least of all one that a header claims.
	if err := engine.SetTrustedProxies(nil); err != nil {
		return nil, fmt.Errorf("httpapi: %w", err)
	}
	engine.NoRoute(func(c *gin.Context) {
		a.refuseUnread(c, middleware.NewProblem(http.StatusNotFound, "not-found", "there is no such route: GET / lists them"))
	})
	engine.NoMethod(func(c *gin.Context) {
		a.refuseUnread(c, middleware.NewProblem(http.StatusMethodNotAllowed, "method-not-allowed",
			"the route does not know this method: it takes "+c.Writer.Header().Get("Allow")))
	})
	engine.Use(config.Observe, gin.CustomRecoveryWithWriter(nil, a.recovered),
		a.refuseForeignOrigins(), a.readBody, a.checkParams)
	table, err := a.table()
	if err != nil {
		return nil, err
	}
	a.routes(engine, table)
	if err := middleware.CheckRoutes(engine, table); err != nil {
		return nil, fmt.Errorf("httpapi: %w", err)
	}
	return engine, nil
}

// recovered answers a request whose handler panicked.
func (a *api) recovered(c *gin.Context, cause any) {
	a.fail(c, fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
}
