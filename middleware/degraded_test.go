package middleware_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// away is a store that can be put out of reach.
type away struct {
	*memstore.Store
	is bool
}

func (a *away) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	if a.is {
		return pathlock.Grant{}, pathlock.ErrUnavailable
	}
	return a.Store.Acquire(ctx, req)
}

// While the lock store is away, requests whose writes are asserted are served, and their answers
// say so. All others are refused, and so is what would outlive the request.
func TestAnswersSayThatThereWasNoLockStore(t *testing.T) {
	quiet := slog.New(slog.DiscardHandler)
	store := &away{Store: memstore.New()}
	locker := pathlock.New(pathlock.Degrade(store, pathlock.Degradation{Log: quiet}), pathlock.WithLogger(quiet))
	table := &nodes{paths: map[string]string{"3": "/dir1/dir2"}}
	locks := middleware.New(locker, table, middleware.Config{Log: quiet})
	engine := gin.New()
	node := lockspec.Param("id")
	serve := func(c *gin.Context) { c.Status(http.StatusNoContent) }
	engine.POST("/asserted/:id", locks.Lock(lockspec.Delete(node).Asserted()), serve)
	engine.POST("/both/:id", locks.Lock(lockspec.All(lockspec.Delete(node).Asserted(), lockspec.Edit(node))), serve)
	engine.POST("/plain/:id", locks.Lock(lockspec.Delete(node)), serve)
	engine.POST("/detached/:id", locks.Lock(lockspec.None("it locks itself")), func(c *gin.Context) {
		if _, _, err := locks.Detach(c, lockspec.Slot(node).Asserted(), pathlock.DefaultLease, ""); err != nil {
			locks.Fail(c, err)
			return
		}
		serve(c)
	})
	for _, tt := range []struct {
		path   string
		away   bool
		status int
		header string
	}{
		{"/asserted/3", false, 204, ""}, {"/asserted/3", true, 204, "true"}, {"/asserted/4", true, 404, ""},
		{"/both/3", true, 503, ""}, {"/plain/3", true, 503, ""}, {"/detached/3", true, 503, ""}, {"/detached/3", false, 204, ""},
	} {
		store.is = tt.away
		w := httptest.NewRecorder()
		engine.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, tt.path, nil))
		if said := w.Header().Get(middleware.DegradedHeader); w.Code != tt.status || said != tt.header {
			t.Errorf("%s, away: %v: answered %d %s, and %s: %q", tt.path, tt.away, w.Code, w.Body, middleware.DegradedHeader, said)
		}
		if err := locker.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
