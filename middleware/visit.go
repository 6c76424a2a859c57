package middleware

import (
	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/lockspec"
)

// visit is one request on its way through the middleware.
type visit struct {
	*Locks
	c      *gin.Context
	spec   lockspec.Spec
	values *values
	// ids are those of the request, where they may be resolved together.
	ids    []lockspec.ID
	budget budget
	// carried is the request's token, and hold what it names, once that is used.
	carried carried
	hold    *hold
	// moves are those that the spec means, as planned last.
	moves []lockspec.Moved
	// note, where there is one, takes the place of the spec's.
	note string
	// authorized are the nodes that [Config.Authorize] was asked about last.
	authorized []lockspec.Node
	asked      bool
}
