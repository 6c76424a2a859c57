package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

func (a *api) getTree(c *gin.Context) {
	suites, err := a.Service.Tree(c.Request.Context(), id(c, "plan"))
	a.answer(c, http.StatusOK, gin.H{"suites": suites}, err)
}

func (a *api) getSuite(c *gin.Context) {
	suite, err := a.Service.Suite(c.Request.Context(), id(c, "id"))
	a.answer(c, http.StatusOK, suite, err)
}

func (a *api) createSuite(c *gin.Context) {
	body := bodyOf[placeBody](c)
	suite, err := a.Suites.CreateSuite(c.Request.Context(), id(c, "plan"), body.Parent, body.Name)
	a.answer(c, http.StatusCreated, suite, err)
}

func (a *api) renameSuite(c *gin.Context) {
	suite, err := a.Suites.RenameSuite(c.Request.Context(), id(c, "id"), bodyOf[nameBody](c).Name)
	a.answer(c, http.StatusOK, suite, err)
}

func (a *api) moveSuite(c *gin.Context) {
	suite, err := a.Suites.MoveSuite(c.Request.Context(), id(c, "id"), bodyOf[placeBody](c).Parent)
	a.answer(c, http.StatusOK, suite, err)
}

func (a *api) copySuite(c *gin.Context) {
	body := bodyOf[placeBody](c)
	suite, err := a.Suites.CopySuite(c.Request.Context(), id(c, "id"), body.Parent, body.Name)
	a.answer(c, http.StatusCreated, suite, err)
}

func (a *api) deleteSuite(c *gin.Context) {
	a.answer(c, http.StatusNoContent, nil, a.Suites.DeleteSuite(c.Request.Context(), id(c, "id")))
}
