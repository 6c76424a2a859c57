package httpapi

import (
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/sample-app/internal/lockview"
)

// planLocksAnswer is who holds and who waits in a plan, and how often the plan has changed.
type planLocksAnswer struct {
	Revision int64 `json:"revision"`
	// Now lets a client with another clock tell how long ago a hold began.
	Now time.Time `json:"now"`
	lockview.Locks
}

// planLocks answers those who cannot receive events.
func (a *api) planLocks(c *gin.Context) (any, error) {
	ctx := c.Request.Context()
	plan, err := a.Service.Plan(ctx, id(c, "plan"))
	if err != nil {
		return nil, err
	}
	revision, err := a.Feed.Revision(ctx, plan.ID)
	if err != nil {
		return nil, err
	}
	locks, err := a.Locks.Of(ctx, plan.ID)
	return planLocksAnswer{Revision: revision, Now: time.Now().UTC(), Locks: locks}, err
}
