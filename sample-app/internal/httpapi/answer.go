package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// answer writes what a request led to, or why it failed.
func (a *api) answer(c *gin.Context, status int, body any, err error) {
	switch {
	case err != nil:
		a.fail(c, err)
	case status == http.StatusNoContent:
		c.Status(status)
	default:
		c.JSON(status, body)
	}
}
