package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

func (a *api) listRecycleBin(c *gin.Context) {
	items, err := a.Service.RecycleBin(c.Request.Context(), id(c, "plan"))
	a.answer(c, http.StatusOK, gin.H{"items": items}, err)
}

func (a *api) restore(c *gin.Context) {
	restored, err := a.Service.Restore(c.Request.Context(), id(c, "item"))
	a.answer(c, http.StatusOK, restored, err)
}

func (a *api) purge(c *gin.Context) {
	a.answer(c, http.StatusNoContent, nil, a.Service.Purge(c.Request.Context(), id(c, "plan")))
}
