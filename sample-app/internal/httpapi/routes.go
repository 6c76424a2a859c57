package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/idempotency"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// SuiteWriter changes the tree of a plan.
type SuiteWriter interface {
	CreateSuite(ctx context.Context, planID, parentID int64, name string) (plans.Suite, error)
	RenameSuite(ctx context.Context, id int64, name string) (plans.Suite, error)
	MoveSuite(ctx context.Context, id, parentID int64) (plans.Suite, error)
	CopySuite(ctx context.Context, id, parentID int64, name string) (plans.Suite, error)
	DeleteSuite(ctx context.Context, id int64) error
}

// request is a request whose URL and body have been checked.
type request struct {
	input
	gin *gin.Context
	ctx context.Context
	// id is the one in the URL, 0 if that has none.
	id int64
}

// handler does the work of one route, and returns the body of its answer.
type handler func(r request) (any, error)

// route is one route below /api. locks.go says what it locks.
type route struct {
	method, path string
	// takes are the fields of the body, and example is one, for the index.
	takes, example string
	// status is that of a success. With 204, there is no body.
	status int
	handle handler
}

// casesOfSuite is the path of a suite's cases.
const casesOfSuite = "/api/suites/:id/cases"

// all are the routes.
func (a *api) all() []route {
	s, w := a.Service, a.Suites
	return []route{
		{"GET", "/healthz", "", "", 200, func(request) (any, error) { return gin.H{"status": "ok"}, nil }},
		{"GET", "/readyz", "", "", 200, a.ready(false)},
		{"GET", "/readyz/reads", "", "", 200, a.ready(true)},
		{"GET", "/api/projects", "", "", 200, func(r request) (any, error) { return under("projects")(s.Projects(r.ctx)) }},
		{"POST", "/api/projects/:project/plans", "name", `{"name":"release 1"}`, 201, func(r request) (any, error) { return s.CreatePlan(r.ctx, r.gin.Param("project"), r.name) }},
		{"GET", "/api/projects/:project/plans", "", "", 200, func(r request) (any, error) { return under("plans")(s.Plans(r.ctx, r.gin.Param("project"))) }},
		{"GET", "/api/plans/:plan", "", "", 200, func(r request) (any, error) { return s.Plan(r.ctx, r.id) }},
		{"PATCH", "/api/plans/:plan", "name", `{"name":"release 2"}`, 200, func(r request) (any, error) { return s.RenamePlan(r.ctx, r.id, r.name) }},
		{"DELETE", "/api/plans/:plan", "", "", 204, func(r request) (any, error) { return nil, s.DeletePlan(r.ctx, r.id) }},
		{"GET", "/api/plans/:plan/tree", "", "", 200, a.tree},
		{"GET", "/api/plans/:plan/locks", "", "", 200, a.planLocks},
		{"GET", "/api/plans/:plan/fsck", "", "", 200, func(r request) (any, error) { return s.Check(r.ctx, r.id) }},
		{
			"POST", importPath, "names", `{"suites":["shop/basket"],"cases":[{"path":"shop/pay by card","body":"1. …"}]}`, 200,
			func(r request) (any, error) { return s.ImportNames(r.ctx, r.id, r.names) },
		},
		{"POST", "/api/plans/:plan/suites", "parent_id name", `{"parent_id":1,"name":"login"}`, 201, func(r request) (any, error) { return w.CreateSuite(r.ctx, r.id, r.parent, r.name) }},
		{"GET", "/api/suites/:id", "", "", 200, func(r request) (any, error) { return s.Suite(r.ctx, r.id) }},
		{"PATCH", "/api/suites/:id", "name", `{"name":"sign-in"}`, 200, func(r request) (any, error) { return w.RenameSuite(r.ctx, r.id, r.name) }},
		{"POST", "/api/suites/:id/move", "parent_id", `{"parent_id":1}`, 200, func(r request) (any, error) { return w.MoveSuite(r.ctx, r.id, r.parent) }},
		{"POST", "/api/suites/:id/copy", "parent_id name", `{"parent_id":1,"name":"copy"}`, 201, func(r request) (any, error) { return w.CopySuite(r.ctx, r.id, r.parent, r.name) }},
		{"DELETE", "/api/suites/:id", "", "", 204, func(r request) (any, error) { return nil, w.DeleteSuite(r.ctx, r.id) }},
		{"POST", "/api/suites/:id/lock", "for note", `{"for":"10m","note":"Anna edits the steps"}`, 201, a.lockSuite},
		{"PUT", "/api/suites/:id/lock", "for", `{"for":"10m"}`, 200, a.refreshSuiteLock},
		{"DELETE", "/api/suites/:id/lock", "", "", 204, a.unlockSuite},
		{"POST", "/api/suites/:id/cases", "name body", `{"name":"wrong password","body":"1. …"}`, 201, func(r request) (any, error) { return s.CreateCase(r.ctx, r.id, r.name, r.body) }},
		{"GET", casesOfSuite, "", "", 200, func(r request) (any, error) { return under("cases")(s.Cases(r.ctx, r.id)) }},
		{"PATCH", "/api/cases/:id", "change", `{"body":"2. …"}`, 200, func(r request) (any, error) { return s.EditCase(r.ctx, r.id, r.change) }},
		{"POST", "/api/cases/:id/move", "suite_id", `{"suite_id":1}`, 200, func(r request) (any, error) { return s.MoveCase(r.ctx, r.id, r.parent) }},
		{"POST", "/api/cases/:id/copy", "suite_id name", `{"suite_id":1,"name":"copy"}`, 201, func(r request) (any, error) { return s.CopyCase(r.ctx, r.id, r.parent, r.name) }},
		{"DELETE", "/api/cases/:id", "", "", 204, func(r request) (any, error) { return nil, s.DeleteCase(r.ctx, r.id) }},
		{"GET", "/api/plans/:plan/recycle-bin", "", "", 200, func(r request) (any, error) { return under("items")(s.RecycleBin(r.ctx, r.id)) }},
		{"POST", "/api/recycle-bin/:item/restore", "", "", 200, func(r request) (any, error) { return s.Restore(r.ctx, r.id) }},
		{"DELETE", "/api/plans/:plan/recycle-bin", "", "", 204, func(r request) (any, error) { return nil, s.Purge(r.ctx, r.id) }},
	}
}

// under puts a list into an object.
func under(name string) func(list any, err error) (any, error) {
	return func(list any, err error) (any, error) { return gin.H{name: list}, err }
}

func (a *api) tree(r request) (any, error) {
	// The revision is read first: a reader never takes an older tree for that of a newer revision.
	plan, err := a.Service.Plan(r.ctx, r.id)
	if err != nil {
		return nil, err
	}
	revision, err := a.Service.Revision(r.ctx, plan)
	if err != nil {
		return nil, err
	}
	suites, err := a.Service.Tree(r.ctx, r.id)
	return gin.H{"revision": revision, "suites": suites}, err
}

// importPath is the path of an import. Sent again, an import continues from where it was refused.
const importPath = "/api/plans/:plan/import"

// register registers a route behind its checks. A request that is sent again under its key takes no
// locks, and one with an invalid body waits for none.
func (a *api) register(engine *gin.Engine, table lockspec.Table, r route) {
	chain := []gin.HandlerFunc{func(c *gin.Context) { a.check(c, r.takes) }}
	if r.method != http.MethodPut && r.path != importPath { // which may be done any number of times
		chain = append(chain, a.Keys.Handle) // GETs pass
	}
	if spec, ok := table[r.method+" "+r.path]; ok {
		chain = append(chain, a.locks.Lock(spec))
	}
	handle(engine, r.method, r.path, append(chain, func(c *gin.Context) { a.answer(c, r) })...)
}

// handle registers handlers, those of a GET for HEAD, too: net/http sends no body then.
func handle(engine *gin.Engine, method, path string, chain ...gin.HandlerFunc) {
	engine.Handle(method, path, chain...)
	if method == http.MethodGet {
		engine.HEAD(path, chain...)
	}
}

// inputKey is the key under which check hands the body on.
const inputKey = "input"

// check refuses a request whose body is not valid.
func (a *api) check(c *gin.Context, takes string) {
	var in input
	if takes != "" {
		raw, err := a.locks.ReadJSON(c)
		if err == nil {
			in, err = parse(raw, takes)
		}
		if err != nil {
			a.fail(c, err)
			return
		}
	}
	c.Set(inputKey, in)
}

// answer does the work of a route. If the request has a key, the answer is committed with the
// change.
func (a *api) answer(c *gin.Context, r route) {
	if c.GetHeader(idempotency.Header) != "" {
		c.Request = c.Request.WithContext(plans.Recording(c.Request.Context(), func(tx *gorm.DB, result any) error {
			if r.status == http.StatusNoContent {
				return idempotency.Record(tx, idempotency.Answer{Status: r.status})
			}
			return idempotency.RecordJSON(tx, r.status, result)
		}))
	}
	req := request{input: c.MustGet(inputKey).(input), gin: c, ctx: c.Request.Context()}
	if len(c.Params) > 0 {
		req.id = parsed(c.Params[0].Value)
	}
	body, err := r.handle(req)
	switch {
	case err != nil:
		a.fail(c, err)
	case r.status == http.StatusNoContent:
		c.Status(r.status)
	case r.method == http.MethodGet && r.path == casesOfSuite:
		// Browsers keep these: windows ask for the cases of a suite once a second, texts and all.
		content, _ := json.Marshal(body) // cases can always be encoded
		send(c.Writer, c.Request, "application/json; charset=utf-8", content)
	default:
		c.JSON(r.status, body)
	}
}
