package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/sample-app/internal/page"
)

// routes registers all routes, each behind the locks that the table gives it.
func (a *api) routes(engine *gin.Engine, table lockspec.Table) error {
	// handle puts the locks between the check of the body and the work, and the key of a request
	// before them: one that is sent again takes no locks.
	handle := func(method, path string, chain ...gin.HandlerFunc) {
		work, route := len(chain)-1, lockspec.Route{Method: method, Path: path}
		handler, before := chain[work], chain[:work:work]
		if method == http.MethodPost {
			before = append(before, a.Keys.Handle)
		}
		if spec, ok := table.Spec(route); ok {
			before = append(before, a.locks.Lock(spec))
		}
		before = append(before, handler)
		engine.Handle(method, path, before...)
		if method == http.MethodGet {
			engine.HEAD(path, before...) // net/http sends no body
		}
	}
	front, err := page.New()
	if err != nil {
		return err
	}
	handle("GET", "/", index(engine, front))
	handle("GET", "/page/:file", func(c *gin.Context) { front.ServeFile(c.Writer, c.Request, c.Param("file")) })
	handle("GET", "/routes", index(engine, nil))
	handle("GET", "/healthz", a.ok(alive))
	handle("GET", "/readyz", a.ok(a.ready))
	handle("GET", "/metrics", gin.WrapH(a.Metrics))

	handle("GET", "/api/projects", a.ok(a.listProjects))
	handle("POST", "/api/projects/:project/plans", withBody(a, readName), a.created(a.createPlan))
	handle("GET", "/api/projects/:project/plans", a.ok(a.listPlans))
	handle("GET", "/api/plans/:plan", a.ok(a.getPlan))
	handle("PATCH", "/api/plans/:plan", withBody(a, readName), a.ok(a.renamePlan))
	handle("DELETE", "/api/plans/:plan", a.noContent(a.deletePlan))

	handle("GET", "/api/plans/:plan/tree", a.ok(a.getTree))
	handle("GET", "/api/plans/:plan/locks", a.ok(a.planLocks))
	handle("GET", "/api/plans/:plan/events", refuseForeignReaders(a), a.events)
	handle("POST", "/api/plans/:plan/import", withBody(a, readImport), a.ok(a.importNames))
	handle("POST", "/api/plans/:plan/suites", withBody(a, readParentAndName), a.created(a.createSuite))
	handle("GET", "/api/suites/:id", a.ok(a.getSuite))
	handle("PATCH", "/api/suites/:id", withBody(a, readName), a.ok(a.renameSuite))
	handle("POST", "/api/suites/:id/move", withBody(a, readParent), a.ok(a.moveSuite))
	handle("POST", "/api/suites/:id/copy", withBody(a, readParentAndName), a.created(a.copySuite))
	handle("DELETE", "/api/suites/:id", a.noContent(a.deleteSuite))
	handle("POST", "/api/suites/:id/lock", withBody(a, readSuiteLock), a.created(a.lockSuite))
	handle("PUT", "/api/suites/:id/lock", withBody(a, readSuiteRefresh), a.ok(a.refreshSuiteLock))
	handle("DELETE", "/api/suites/:id/lock", a.noContent(a.unlockSuite))

	handle("POST", "/api/suites/:id/cases", withBody(a, readCase), a.created(a.createCase))
	handle("GET", "/api/suites/:id/cases", a.ok(a.listCases))
	handle("PATCH", "/api/cases/:id", withBody(a, readCaseChange), a.ok(a.editCase))
	handle("POST", "/api/cases/:id/move", withBody(a, readSuite), a.ok(a.moveCase))
	handle("POST", "/api/cases/:id/copy", withBody(a, readSuiteAndName), a.created(a.copyCase))
	handle("DELETE", "/api/cases/:id", a.noContent(a.deleteCase))

	handle("GET", "/api/plans/:plan/recycle-bin", a.ok(a.listRecycleBin))
	handle("POST", "/api/recycle-bin/:item/restore", a.ok(a.restore))
	handle("DELETE", "/api/plans/:plan/recycle-bin", a.noContent(a.purge))
	handle("GET", "/api/plans/:plan/fsck", refuseForeignReaders(a), a.ok(a.checkPlan))
	return nil
}
