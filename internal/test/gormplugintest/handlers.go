package gormplugintest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
)

// handled runs a handler in a request for the row s, which holds the row's lock.
func (w *world) handled(s *Suite, handler gin.HandlerFunc) {
	w.Helper()
	w.handledBy(lockspec.Delete(lockspec.Param("id")), s, handler)
}

// handledBy runs a handler in a request for the row s, which holds what a spec says.
func (w *world) handledBy(spec lockspec.Spec, s *Suite, handler gin.HandlerFunc) {
	w.Helper()
	locks := middleware.New(w.locker, w.plugin.Resolver(&Suite{}), middleware.Config{
		OnError: func(_ *gin.Context, err error) { w.Error(err) },
	})
	engine := gin.New()
	called := false
	engine.DELETE("/suites/:id", locks.Lock(spec), func(c *gin.Context) {
		called = true
		handler(c)
	})
	engine.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(w.Context(), http.MethodDelete, "/suites/"+fmt.Sprint(s.ID), nil))
	if !called {
		w.Fatal("the handler was not called")
	}
}

// checkHandlers has handlers write whose requests hold locks, with the contexts that handlers have.
func checkHandlers(t *testing.T, d Database) {
	gin.SetMode(gin.ReleaseMode)
	w := newWorld(t, d, settings{wait: 15 * time.Millisecond})
	a, b := w.build("/a"), w.build("/b")
	create := func(ctx context.Context, parent *Suite, name string) error {
		return w.db.WithContext(ctx).Create(&Suite{ParentID: &parent.ID, Name: name}).Error
	}
	w.handled(a, func(c *gin.Context) {
		w.trace.reset()
		for what, ctx := range map[string]context.Context{"request": c.Request.Context(), "gin": c, "copy": c.Copy()} {
			w.must(create(ctx, a, what))
			if held, events := w.held(), w.trace.String(); held != "X /a" || strings.Contains(events, "grant") {
				t.Errorf("%s: %s is held after the write, want what the request holds; events: %s", what, held, events)
			}
		}
		_, err := gormplugin.Copy(w.db.WithContext(context.Background()), &Suite{}, a.ID, gormplugin.Below(a.ID), gormplugin.CopyAs("new"))
		for _, err := range []error{err, create(context.Background(), a, "new")} {
			w.fails(err, gormplugin.ErrNoRequestContext)
			w.fails(err, pathlock.ErrConflict) // a job's statement looks the same
			if handler := "DELETE /suites/:id (delete)"; !strings.Contains(err.Error(), handler) {
				t.Errorf("the error does not say %q: %v", handler, err)
			}
		}
		w.must(create(context.Background(), b, "new")) // what the request does not hold is nobody's business
	})
	w.handled(a, func(c *gin.Context) {
		tx := w.db.WithContext(c).Begin()
		w.must(tx.Create(&Suite{ParentID: &a.ID, Name: "lost"}).Error)
		w.must(w.locker.ForceRelease(c, w.tree(), w.locker.Scope(c).Owner()))
		<-c.Request.Context().Done()
		w.fails(tx.Commit().Error, pathlock.ErrLost)
		w.fails(create(c, a, "lost"), pathlock.ErrLost)
	})
	w.has("/a", "/a/copy", "/a/gin", "/a/request", "/b", "/b/new")
}
