package middleware_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// lending adds a route to the fixture whose handler leaves a hold behind.
func (f *fixture) lending(spec lockspec.Spec, lasting time.Duration) {
	f.engine.POST("/suites/:id/lock", f.locks.Lock(lockspec.None("the handler leaves a hold behind")), func(c *gin.Context) {
		token, until, err := f.locks.Detach(c, spec, lasting, "anna edits")
		if err != nil {
			f.locks.Fail(c, err)
			return
		}
		c.Header(middleware.TokenHeader, string(token))
		c.String(http.StatusCreated, until.Format(time.RFC3339))
	})
}

func TestDetachLeavesAHoldBehind(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{Wait: pathlock.NoWait})
	f.lending(lockspec.Slot(lockspec.Param("id")).Note("a lock"), time.Hour)
	w := f.send("POST", "/suites/3/lock", "")
	f.is("the first", w, http.StatusCreated, "")
	if until, err := time.Parse(time.RFC3339, w.Body.String()); err != nil || time.Until(until).Round(time.Minute) != time.Hour {
		t.Errorf("it lasts until %s: %v", w.Body, err)
	}
	mine := pathlock.Token(w.Header().Get(middleware.TokenHeader))
	f.only("after the request", "X /dir1/dir2")
	second := f.send("POST", "/suites/3/lock", "")
	f.is("the second", second, http.StatusLocked, "locked")
	if holder := f.problem(second).Holder; holder == nil || holder.What != "anna edits" {
		t.Errorf("the holder is %+v", holder)
	}
	f.is("another hold of the same holder", f.send("POST", "/suites/3/lock", "", token(mine)...), http.StatusLocked, "locked")
	f.is("a malformed token", f.send("POST", "/suites/4/lock", "", token("nonsense")...), http.StatusBadRequest, "invalid-request")
	f.is("the holder's work", f.send("DELETE", "/suites/3", "", token(mine)...), http.StatusNoContent, "")
	f.end(mine)
	f.nothingLeft()
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
		f := newFixture(t, leaving{memstore.New(), func() {
			if tt.status == middleware.StatusClientGone {
				gone()
			}
		}}, tt.config)
		f.lending(tt.spec, tt.lasting)
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

// farther has a node in another tree, beside those of nodes.
type farther struct{ *nodes }

func (n farther) Resolve(ctx context.Context, id string) (pathlock.Location, error) {
	if id == "5" {
		return pathlock.Location{Tree: elsewhere, Path: pathlock.MustParsePath("/far")}, nil
	}
	return n.nodes.Resolve(ctx, id)
}

// A client chooses what is in a list of ids, and is told that a hold is in one tree.
func TestDetachOfIDsInSeveralTreesIsRefused(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	f.locks = middleware.New(f.locker, farther{f.nodes}, middleware.Config{})
	f.lending(lockspec.Slot(lockspec.JSON("ids").Each()), time.Hour)
	w := f.send("POST", "/suites/1/lock", `{"ids":[3,5]}`)
	f.is("two trees", w, http.StatusBadRequest, "invalid-request")
	if p := f.problem(w); p.Field != "ids" {
		t.Errorf("the field is %q: %s", p.Field, p.Detail)
	}
	f.nothingLeft()
	f.is("one tree", f.send("POST", "/suites/1/lock", `{"ids":[3,4]}`), http.StatusCreated, "")
}

// leaving is a store whose caller's client goes away once the hold is detached.
type leaving struct {
	pathlock.Store
	gone func()
}

func (s leaving) Transfer(ctx context.Context, t pathlock.Transfer) (pathlock.Transferred, error) {
	defer s.gone()
	return s.Store.Transfer(ctx, t)
}
