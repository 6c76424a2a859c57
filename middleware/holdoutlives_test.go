package middleware_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Whatever ends a request, its hold stays as it is, and nothing else does.
func TestTheHoldOutlivesTheRequestHoweverThatEnds(t *testing.T) {
	for _, tt := range []struct {
		what    string
		config  middleware.Config
		handler func(f *fixture, c *gin.Context)
		status  int
	}{
		{"an answer", middleware.Config{}, func(_ *fixture, c *gin.Context) { c.Status(http.StatusNoContent) }, 204},
		{"a failure", middleware.Config{}, func(_ *fixture, c *gin.Context) { c.Status(http.StatusTeapot) }, 418},
		{"a panic", middleware.Config{}, func(*fixture, *gin.Context) { panic("in the handler") }, 500},
		{"held for too long", middleware.Config{MaxHold: time.Millisecond}, func(f *fixture, c *gin.Context) {
			<-c.Request.Context().Done()
			// The context ends before the store is told: what the request had is free once somebody
			// else gets it.
			other, err := f.locker.Acquire(f.Context(), pathlock.Request{Tree: plan, Claims: claim("/other")})
			if err != nil {
				f.Error(err)
				return
			}
			_ = other.Release(f.Context())
			middleware.New(f.locker, nil, middleware.Config{}).Fail(c, context.Cause(c.Request.Context()))
		}, 503},
		{"the client went away", middleware.Config{}, func(f *fixture, c *gin.Context) {
			middleware.New(f.locker, nil, middleware.Config{}).Fail(c, middleware.ErrClientGone)
		}, 499},
		{"a lock that nobody lets go", middleware.Config{}, func(f *fixture, c *gin.Context) {
			if _, err := f.locker.Acquire(c, pathlock.Request{Tree: plan, Claims: claim("/dir1/dir2")}); err != nil {
				f.Error(err)
			}
			c.Status(http.StatusNoContent)
		}, 204},
	} {
		f := newFixture(t, memstore.New(), tt.config)
		mine := f.detached(plan, "/dir1")
		f.handler = func(c *gin.Context) { tt.handler(f, c) }
		for _, path := range []string{"/suites/3", "/suites/4"} {
			w := httptest.NewRecorder()
			func() {
				defer func() {
					if recover() != nil {
						w.Code = http.StatusInternalServerError
					}
				}()
				w = f.send("DELETE", path, "", token(mine)...)
			}()
			f.is(tt.what, w, tt.status, "")
			f.only(tt.what, "X /dir1")
		}
		if err := f.locker.ReleaseToken(t.Context(), mine); err != nil {
			t.Errorf("%s: the hold is not the token's: %v", tt.what, err)
		}
		f.nothingLeft()
	}
}

// An instance that is killed in the middle of a request takes with it, within one lease, all that
// the request has locked besides the hold, and nothing of the hold.
func TestTheHoldOutlivesAnInstanceThatIsKilledAndItsRequestDoesNot(t *testing.T) {
	for _, request := range []string{"DELETE /suites/4", "PUT /plans/1"} { // a node, and the gate
		synctest.Test(t, func(t *testing.T) {
			store := memstore.New()
			instance := &killed{Store: store}
			f := newFixture(t, instance, middleware.Config{Wait: pathlock.NoWait, MaxHold: -1})
			survivor := newFixture(t, store, middleware.Config{Wait: pathlock.NoWait})
			mine := survivor.detached(plan, "/dir1")
			entered, end := make(chan struct{}), make(chan struct{})
			f.handler = func(*gin.Context) {
				close(entered)
				<-end
			}
			var group sync.WaitGroup
			method, path, _ := strings.Cut(request, " ")
			group.Go(func() { f.send(method, path, "", token(mine)...) })
			<-entered
			time.Sleep(10 * time.Minute) // the request is long, and lives
			survivor.is(request, survivor.send("DELETE", "/suites/4", ""), http.StatusLocked, "locked")
			instance.dead.Store(true)
			time.Sleep(pathlock.DefaultLease)
			survivor.is(request+", others", survivor.send("DELETE", "/suites/4", ""), http.StatusNoContent, "")
			survivor.is(request+", others", survivor.send("DELETE", "/suites/3", ""), http.StatusLocked, "locked")
			survivor.is(request+", the holder", survivor.send("DELETE", "/suites/3", "", token(mine)...), http.StatusNoContent, "")
			survivor.only(request, "X /dir1")
			close(end)
			group.Wait()
			instance.dead.Store(false)
			f.only(request, "X /dir1")
		})
	}
}

// killed is the store of an instance that it hears nothing of once that is dead.
type killed struct {
	*memstore.Store
	dead atomic.Bool
}

func (s *killed) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	if s.dead.Load() {
		return nil, pathlock.ErrUnavailable
	}
	return s.Store.Renew(ctx, tree, leases)
}

func (s *killed) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	if s.dead.Load() {
		return pathlock.ErrUnavailable
	}
	return s.Store.Release(ctx, tree, owner, id)
}
