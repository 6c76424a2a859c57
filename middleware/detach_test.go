package middleware_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// lending adds a route to the fixture whose handler leaves a hold behind.
func (f *fixture) lending(spec lockspec.Spec, config middleware.Config, lasting time.Duration) {
	f.Helper()
	locks := middleware.New(f.locker, f.nodes, config)
	f.engine.POST("/suites/:id/lock", locks.Lock(lockspec.None("the handler leaves a hold behind")), func(c *gin.Context) {
		token, until, err := locks.Detach(c, spec, lasting, "anna edits")
		if err != nil {
			locks.Fail(c, err)
			return
		}
		c.Header(middleware.TokenHeader, string(token))
		c.String(http.StatusCreated, until.Format(time.RFC3339))
	})
}

func TestDetachLeavesAHoldBehind(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{Wait: pathlock.NoWait})
	f.lending(lockspec.Slot(lockspec.Param("id")).Note("a lock"), middleware.Config{Wait: pathlock.NoWait}, time.Hour)
	w := f.send("POST", "/suites/3/lock", "")
	f.is("the first", w, http.StatusCreated, "")
	if until, err := time.Parse(time.RFC3339, w.Body.String()); err != nil || time.Until(until).Round(time.Minute) != time.Hour {
		t.Errorf("it lasts until %s: %v", w.Body, err)
	}
	mine := pathlock.Token(w.Header().Get(middleware.TokenHeader))
	f.only("after the request", "X /dir1/dir2")
	second := f.send("POST", "/suites/3/lock", "")
	f.is("the second", second, http.StatusLocked, "locked")
	if holder, _ := f.problem(second)["holder"].(map[string]any); holder["what"] != "anna edits" {
		t.Errorf("the holder is %v", holder)
	}
	f.is("another hold of the same holder", f.send("POST", "/suites/3/lock", "", token(mine)...), http.StatusLocked, "locked")
	f.is("a malformed token", f.send("POST", "/suites/4/lock", "", token("nonsense")...), http.StatusBadRequest, "invalid-request")
	f.is("no such node", f.send("POST", "/suites/99/lock", ""), http.StatusNotFound, "not-found")
	f.is("the holder's work", f.send("DELETE", "/suites/3", "", token(mine)...), http.StatusNoContent, "")
	if err := f.locker.ReleaseToken(t.Context(), mine); err != nil {
		t.Error(err)
	}
	f.nothingLeft()
}

func TestDetachLeavesNothingBehindWhenItFails(t *testing.T) {
	slot := lockspec.Slot(lockspec.Param("id"))
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
		{"an Authorize that answers itself", slot, middleware.Config{Authorize: func(c *gin.Context, _ []lockspec.Node) error {
			c.AbortWithStatus(http.StatusTeapot)
			return nil
		}}, time.Hour, 418},
	} {
		f := newFixture(t, memstore.New(), middleware.Config{})
		tt.config.Log = slog.New(slog.DiscardHandler)
		f.lending(tt.spec, tt.config, tt.lasting)
		f.is(tt.what, f.send("POST", "/suites/3/lock", ""), tt.status, "")
		f.nothingLeft()
	}
}

// What nobody will hear of is not left behind.
func TestDetachLeavesNothingBehindForAClientThatIsGone(t *testing.T) {
	ctx, gone := context.WithCancel(t.Context())
	store := leaving{memstore.New(), gone}
	f := newFixture(t, store, middleware.Config{})
	f.lending(lockspec.Slot(lockspec.Param("id")), middleware.Config{}, time.Hour)
	w := httptest.NewRecorder()
	f.engine.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "/suites/3/lock", nil))
	if w.Code == http.StatusCreated {
		t.Errorf("answer %d", w.Code)
	}
	f.nothingLeft()
}

// leaving is a store whose caller's client goes away once the hold is detached.
type leaving struct {
	*memstore.Store
	gone context.CancelFunc
}

func (s leaving) Transfer(ctx context.Context, t pathlock.Transfer) (pathlock.Transferred, error) {
	defer s.gone()
	return s.Store.Transfer(ctx, t)
}

// Under the request's own locks, which end with it, a hold could not be told from them.
func TestDetachIsNotForHandlersBehindLocks(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	locks := middleware.New(f.locker, f.nodes, middleware.Config{})
	slot := lockspec.Slot(lockspec.Param("id"))
	var failed error
	f.engine.POST("/behind/:id", locks.Lock(slot), func(c *gin.Context) { _, _, failed = locks.Detach(c, slot, time.Hour, "") })
	f.send("POST", "/behind/3", "")
	if failed == nil {
		t.Error("a hold was taken behind locks")
	}
	f.nothingLeft()
}

// A route whose handler locks a node for its client, beyond the end of the request.
func ExampleLocks_Detach() {
	locker := pathlock.New(memstore.New(), pathlock.WithWait(pathlock.NoWait))
	plan, _ := pathlock.NewTree("testplan", "plan-001")
	resolver := pathlock.ResolverFunc(func(context.Context, string) (pathlock.Location, error) {
		return pathlock.Location{Tree: plan, Path: pathlock.MustParsePath("/dir1/dir2")}, nil
	})
	locks := middleware.New(locker, resolver, middleware.Config{})
	suite := lockspec.Param("id")

	r := gin.New()
	r.POST("/suites/:id/lock", func(c *gin.Context) {
		token, _, err := locks.Detach(c, lockspec.Slot(suite), 10*time.Minute, "Anna edits the suite")
		if err != nil {
			locks.Fail(c, err)
			return
		}
		c.Header(middleware.TokenHeader, string(token))
		c.Status(http.StatusCreated)
	})
	r.DELETE("/suites/:id/lock", func(c *gin.Context) {
		if err := locker.ReleaseToken(c.Request.Context(), middleware.HeaderToken(c.Request)); err != nil {
			locks.Fail(c, err)
			return
		}
		c.Status(http.StatusNoContent)
	})
	r.DELETE("/suites/:id", locks.Lock(lockspec.Delete(suite)), func(c *gin.Context) { c.Status(http.StatusNoContent) })

	send := func(method, path, token string) string {
		req := httptest.NewRequestWithContext(context.Background(), method, path, nil)
		req.Header.Set(middleware.TokenHeader, token)
		w := httptest.NewRecorder()
		r.ServeHTTP(w, req)
		fmt.Println(method, path, w.Code)
		return w.Header().Get(middleware.TokenHeader)
	}
	token := send("POST", "/suites/17/lock", "")
	send("DELETE", "/suites/17", "")         // somebody else's
	send("DELETE", "/suites/17", token)      // the holder's
	send("DELETE", "/suites/17/lock", token) // which ends the hold
	send("DELETE", "/suites/17", token)      // too late
	send("DELETE", "/suites/17", "")
	// Output:
	// POST /suites/17/lock 201
	// DELETE /suites/17 423
	// DELETE /suites/17 204
	// DELETE /suites/17/lock 204
	// DELETE /suites/17 409
	// DELETE /suites/17 204
}
