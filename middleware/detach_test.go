package middleware_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// lending adds a route to the fixture whose handler leaves a hold behind.
func (f *fixture) lending(path string, spec lockspec.Spec, lasting time.Duration) {
	f.engine.POST(path, f.locks.Lock(lockspec.None("the handler leaves a hold behind")), func(c *gin.Context) {
		token, until, err := f.locks.Detach(c, spec, lasting, "anna edits")
		if err != nil {
			f.locks.Fail(c, err)
			return
		}
		c.Header(middleware.TokenHeader, string(token))
		c.String(http.StatusCreated, until.Format(time.RFC3339))
	})
}

// What nobody will hear of is not left behind. Under the request's own locks, which end with it, a
// hold could not be told from them.
func TestDetachLeavesNothingBehindWhenItFails(t *testing.T) {
	slot := lockspec.Slot(lockspec.Param("id"))
	answers := func(c *gin.Context, _ []lockspec.Node) error { c.AbortWithStatus(http.StatusTeapot); return nil }
	for _, tt := range []struct {
		what    string
		spec    lockspec.Spec
		config  middleware.Config
		lasting time.Duration
		status  int
	}{
		{"two trees", lockspec.All(lockspec.Names("project", lockspec.Const("p")), slot), middleware.Config{}, time.Hour, 500},
		{"no tree", lockspec.None("hm"), middleware.Config{}, time.Hour, 500},
		{"a spec that makes no sense", lockspec.Slot(lockspec.Param("id").Kind("unknown")), middleware.Config{}, time.Hour, 500},
		{"too short", slot, middleware.Config{}, time.Millisecond, 400},
		{"an Authorize that answers itself", slot, middleware.Config{Authorize: answers}, time.Hour, 418},
		{"a client that is gone", slot, middleware.Config{}, time.Hour, middleware.StatusClientGone},
		{"a handler behind locks", slot, middleware.Config{}, time.Hour, 500},
	} {
		ctx, gone := context.WithCancel(t.Context())
		defer gone()
		store := &testlock.Watched{Store: memstore.New()}
		store.Set(func(_ context.Context, call string) error {
			if call == "transferred" && tt.status == middleware.StatusClientGone {
				gone()
			}
			return nil
		})
		f := newFixture(t, store, tt.config)
		f.lending("/suites/:id/lock", tt.spec, tt.lasting)
		path := "/suites/3/lock"
		if tt.what == "a handler behind locks" {
			path = "/behind/3"
			f.engine.POST("/behind/:id", f.locks.Lock(slot), func(c *gin.Context) {
				_, _, err := f.locks.Detach(c, slot, time.Hour, "")
				f.locks.Fail(c, err)
			})
		}
		f.is(tt.what, f.sendUnder(ctx, "POST", path, ""), tt.status, "")
		f.nothingLeft()
	}
}
