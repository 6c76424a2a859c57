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
	"github.com/pathlock-go/pathlock/store/anystore"
)

// pingTimeout is how long the database and the lock store together may take to answer. lookTimeout
// is how long the lock store may where reads alone matter: balancers wait for a second.
const (
	pingTimeout = 2 * time.Second
	lookTimeout = 500 * time.Millisecond
)

// ready checks that the instance does not end, that the database answers and lets it in, and that
// the lock store grants locks. Otherwise it says what is wrong. It does not ask whether the
// database could write: that takes a commit, and an instance whose database is full still serves
// reads, as all others do.
//
// With readsAlone, it is for load balancers: without locks, reads go on. It still asks the lock
// store, and counts its failure as the other answer does, since the alerts use that count and
// nobody may be writing.
func (a *api) ready(readsAlone bool) handler {
	return func(r request) (any, error) {
		if a.Draining() {
			return nil, middleware.NewRetryableProblem(http.StatusServiceUnavailable, "stopping", "this instance is shutting down")
		}
		ctx, cancel := context.WithTimeout(r.ctx, pingTimeout)
		defer cancel()
		if err := a.DB.Ping(ctx); err != nil {
			return nil, notReady("database", anystore.Trouble(err), err)
		}
		if readsAlone {
			ctx, cancel = context.WithTimeout(ctx, lookTimeout)
			defer cancel()
		}
		err := a.grants(ctx)
		if err != nil && !readsAlone {
			return nil, notReady("lock store", anystore.Trouble(err), err)
		}
		answer := gin.H{"status": "ready"}
		if err != nil {
			a.Locker.Answered(r.ctx, pathlock.FailureLockStore)
			answer["writes"] = "the lock store " + anystore.Trouble(err)
		}
		return answer, nil
	}
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
	problem := middleware.NewRetryableProblem(http.StatusServiceUnavailable, strings.ReplaceAll(what, " ", "-")+"-unavailable", "the "+what+" "+trouble)
	return fmt.Errorf("not ready: %w: %w", problem, err)
}
