package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/idempotency"
	"github.com/pathlock-go/pathlock/sample-app/internal/changes"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// handler does the work of one route, and returns the body of its answer.
type handler func(c *gin.Context) (any, error)

// ok answers with status 200 and what h returns, or says why h failed.
func (a *api) ok(h handler) gin.HandlerFunc { return a.answer(http.StatusOK, h) }

// created is ok with status 201.
func (a *api) created(h handler) gin.HandlerFunc { return a.answer(http.StatusCreated, h) }

func (a *api) answer(status int, h handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		if c.GetHeader(idempotency.Header) != "" {
			c.Request = c.Request.WithContext(plans.Recording(c.Request.Context(), func(tx *gorm.DB, result any) error {
				return idempotency.RecordJSON(tx, status, result)
			}))
		}
		body, err := h(c)
		if err != nil {
			a.fail(c, err)
			return
		}
		c.JSON(status, body)
	}
}

// noContent answers with status 204 and no body.
func (a *api) noContent(h func(c *gin.Context) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := h(c); err != nil {
			a.fail(c, err)
			return
		}
		c.Status(http.StatusNoContent)
	}
}

// SuiteWriter changes the tree of a plan.
type SuiteWriter = changes.SuiteWriter

func (a *api) createPlan(c *gin.Context) (any, error) {
	return a.Service.CreatePlan(c.Request.Context(), c.Param("project"), bodyOf[nameBody](c).Name)
}

func (a *api) listProjects(c *gin.Context) (any, error) {
	projects, err := a.Service.Projects(c.Request.Context())
	return gin.H{"projects": projects}, err
}

func (a *api) listPlans(c *gin.Context) (any, error) {
	plans, err := a.Service.Plans(c.Request.Context(), c.Param("project"))
	return gin.H{"plans": plans}, err
}

func (a *api) getPlan(c *gin.Context) (any, error) {
	return a.Service.Plan(c.Request.Context(), id(c, "plan"))
}

func (a *api) renamePlan(c *gin.Context) (any, error) {
	return a.Service.RenamePlan(c.Request.Context(), id(c, "plan"), bodyOf[nameBody](c).Name)
}

func (a *api) deletePlan(c *gin.Context) error {
	return a.Service.DeletePlan(c.Request.Context(), id(c, "plan"))
}

func (a *api) checkPlan(c *gin.Context) (any, error) {
	return a.Service.Check(c.Request.Context(), id(c, "plan"))
}

func (a *api) getTree(c *gin.Context) (any, error) {
	// The revision is read first: a reader never takes an older tree for that of a newer revision.
	revision, err := a.Feed.Revision(c.Request.Context(), id(c, "plan"))
	if err != nil {
		return nil, err
	}
	suites, err := a.Service.Tree(c.Request.Context(), id(c, "plan"))
	return gin.H{"revision": revision, "suites": suites}, err
}

func (a *api) getSuite(c *gin.Context) (any, error) {
	return a.Service.Suite(c.Request.Context(), id(c, "id"))
}

func (a *api) createSuite(c *gin.Context) (any, error) {
	body := bodyOf[placeBody](c)
	return a.Suites.CreateSuite(c.Request.Context(), id(c, "plan"), body.Parent, body.Name)
}

func (a *api) renameSuite(c *gin.Context) (any, error) {
	return a.Suites.RenameSuite(c.Request.Context(), id(c, "id"), bodyOf[nameBody](c).Name)
}

func (a *api) moveSuite(c *gin.Context) (any, error) {
	return a.Suites.MoveSuite(c.Request.Context(), id(c, "id"), bodyOf[placeBody](c).Parent)
}

func (a *api) copySuite(c *gin.Context) (any, error) {
	body := bodyOf[placeBody](c)
	return a.Suites.CopySuite(c.Request.Context(), id(c, "id"), body.Parent, body.Name)
}

func (a *api) deleteSuite(c *gin.Context) error {
	return a.Suites.DeleteSuite(c.Request.Context(), id(c, "id"))
}

func (a *api) listCases(c *gin.Context) (any, error) {
	cases, err := a.Service.Cases(c.Request.Context(), id(c, "id"))
	return gin.H{"cases": cases}, err
}

func (a *api) createCase(c *gin.Context) (any, error) {
	body := bodyOf[caseBody](c)
	return a.Service.CreateCase(c.Request.Context(), id(c, "id"), body.Name, body.Body)
}

func (a *api) editCase(c *gin.Context) (any, error) {
	return a.Service.EditCase(c.Request.Context(), id(c, "id"), bodyOf[plans.CaseChange](c))
}

func (a *api) moveCase(c *gin.Context) (any, error) {
	return a.Service.MoveCase(c.Request.Context(), id(c, "id"), bodyOf[placeBody](c).Parent)
}

func (a *api) copyCase(c *gin.Context) (any, error) {
	body := bodyOf[placeBody](c)
	return a.Service.CopyCase(c.Request.Context(), id(c, "id"), body.Parent, body.Name)
}

func (a *api) deleteCase(c *gin.Context) error {
	return a.Service.DeleteCase(c.Request.Context(), id(c, "id"))
}

func (a *api) listRecycleBin(c *gin.Context) (any, error) {
	items, err := a.Service.RecycleBin(c.Request.Context(), id(c, "plan"))
	return gin.H{"items": items}, err
}

func (a *api) restore(c *gin.Context) (any, error) {
	return a.Service.Restore(c.Request.Context(), id(c, "item"))
}

func (a *api) purge(c *gin.Context) error {
	return a.Service.Purge(c.Request.Context(), id(c, "plan"))
}
