package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

func (a *api) listCases(c *gin.Context) {
	cases, err := a.Service.Cases(c.Request.Context(), id(c, "id"))
	a.answer(c, http.StatusOK, gin.H{"cases": cases}, err)
}

func (a *api) createCase(c *gin.Context) {
	body := bodyOf[caseBody](c)
	created, err := a.Service.CreateCase(c.Request.Context(), id(c, "id"), body.Name, body.Body)
	a.answer(c, http.StatusCreated, created, err)
}

func (a *api) editCase(c *gin.Context) {
	edited, err := a.Service.EditCase(c.Request.Context(), id(c, "id"), bodyOf[plans.CaseChange](c))
	a.answer(c, http.StatusOK, edited, err)
}

func (a *api) moveCase(c *gin.Context) {
	moved, err := a.Service.MoveCase(c.Request.Context(), id(c, "id"), bodyOf[placeBody](c).Parent)
	a.answer(c, http.StatusOK, moved, err)
}

func (a *api) copyCase(c *gin.Context) {
	body := bodyOf[placeBody](c)
	created, err := a.Service.CopyCase(c.Request.Context(), id(c, "id"), body.Parent, body.Name)
	a.answer(c, http.StatusCreated, created, err)
}

func (a *api) deleteCase(c *gin.Context) {
	a.answer(c, http.StatusNoContent, nil, a.Service.DeleteCase(c.Request.Context(), id(c, "id")))
}
