package httpapi

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/sample-app/internal/database"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// pingTimeout is how long the database and the lock store together may take to answer.
const pingTimeout = 2 * time.Second

// ready checks that the database answers and lets this instance in, and that the lock store grants
// locks. Otherwise it says what is wrong. Whether the database could write it does not ask: that
// takes a commit, and an instance whose database is full still serves reads, as all others do.
func (a *api) ready(r request) (any, error) {
	if a.Draining() {
		return nil, middleware.Later(http.StatusServiceUnavailable, "stopping", "this instance ends")
	}
	ctx, cancel := context.WithTimeout(r.ctx, pingTimeout)
	defer cancel()
	if err := a.DB.Ping(ctx); err != nil {
		return nil, notReady("database", database.Trouble(err), err)
	}
	if err := a.grants(ctx); err != nil {
		return nil, notReady("lock store", anystore.Trouble(err), err)
	}
	return gin.H{"status": "ready"}, nil
}

// grants takes a lock that nobody else asks for, and releases it. A store that is full answers, and
// grants nothing. One that does not answer is asked for no lock: it would have to be taken back.
func (a *api) grants(ctx context.Context) error {
	if err := a.Locker.Ping(ctx); err != nil {
		return err
	}
	tree, err := pathlock.NewTree(a.Namespace, "readyz") // no plan's: those have numbers
	if err != nil {
		return err
	}
	node, err := pathlock.Root().Child(rand.Text())
	if err != nil {
		return err
	}
	lock, err := a.Locker.Acquire(ctx, pathlock.Request{
		Tree: tree, Claims: []pathlock.Claim{pathlock.X(node)}, Wait: pathlock.NoWait, Note: "readyz", Operation: "readyz",
	})
	if err != nil {
		return err
	}
	return lock.Release(ctx)
}

// notReady says to the client what is wrong. Only the log gets err, which has addresses.
func notReady(what, trouble string, err error) error {
	problem := middleware.Later(http.StatusServiceUnavailable, strings.ReplaceAll(what, " ", "-")+"-unavailable", "the "+what+" "+trouble)
	return fmt.Errorf("not ready: %w: %w", problem, err)
}
