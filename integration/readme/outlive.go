package readme

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
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

// A job hands its lock over to the next process.
func handOver(lock *pathlock.Lock, send func(pathlock.Token) error) error {
	token, err := lock.Detach()
	if err != nil {
		return err
	}
	return send(token)
}

func takeOver(ctx context.Context, locker *pathlock.Locker, token pathlock.Token, work func(context.Context) error) error {
	lock, err := locker.Attach(ctx, token)
	if err != nil {
		return err // it matches pathlock.ErrLost if the hold has ended
	}
	defer func() { _ = lock.Release(ctx) }()
	return work(lock.Context())
}
