package readme

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
)

// A handler that locks a suite for its client, beyond the end of the request.
func lend(locks *middleware.Locks) gin.HandlerFunc {
	suite := lockspec.Slot(lockspec.Param("id"))
	return func(c *gin.Context) {
		token, until, err := locks.Detach(c, suite, 10*time.Minute, "Anna edits the suite")
		if err != nil {
			locks.Fail(c, err)
			return
		}
		c.JSON(http.StatusCreated, gin.H{"token": token, "until": until})
	}
}
