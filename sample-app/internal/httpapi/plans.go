package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

func (a *api) createPlan(c *gin.Context) {
	plan, err := a.Service.CreatePlan(c.Request.Context(), c.Param("project"), bodyOf[nameBody](c).Name)
	a.answer(c, http.StatusCreated, plan, err)
}

func (a *api) listPlans(c *gin.Context) {
	plans, err := a.Service.Plans(c.Request.Context(), c.Param("project"))
	a.answer(c, http.StatusOK, gin.H{"plans": plans}, err)
}

func (a *api) getPlan(c *gin.Context) {
	plan, err := a.Service.Plan(c.Request.Context(), id(c, "plan"))
	a.answer(c, http.StatusOK, plan, err)
}

func (a *api) renamePlan(c *gin.Context) {
	plan, err := a.Service.RenamePlan(c.Request.Context(), id(c, "plan"), bodyOf[nameBody](c).Name)
	a.answer(c, http.StatusOK, plan, err)
}

func (a *api) deletePlan(c *gin.Context) {
	a.answer(c, http.StatusNoContent, nil, a.Service.DeletePlan(c.Request.Context(), id(c, "plan")))
}

func (a *api) checkPlan(c *gin.Context) {
	report, err := a.Service.Check(c.Request.Context(), id(c, "plan"))
	a.answer(c, http.StatusOK, report, err)
}
