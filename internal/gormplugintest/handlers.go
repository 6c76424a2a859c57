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
	"gorm.io/gorm"
)

// handled runs a handler in a request for the row s, which holds the row's lock.
func (w *world) handled(s *Suite, handler gin.HandlerFunc) {
	w.Helper()
	locks := middleware.New(w.locker, w.plugin.Resolver(&Suite{}), middleware.Config{
		OnError: func(_ *gin.Context, err error) { w.Error(err) },
	})
	engine := gin.New()
	called := false
	engine.DELETE("/suites/:id", locks.Lock(lockspec.Delete(lockspec.Param("id"))), func(c *gin.Context) {
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
	create := func(db *gorm.DB, parent *Suite) error {
		return db.Create(&Suite{ParentID: &parent.ID, Name: "new"}).Error
	}
	writes := map[string]func(db *gorm.DB, parent *Suite) error{
		"a statement": create,
		"a transaction": func(db *gorm.DB, parent *Suite) error {
			return db.Transaction(func(tx *gorm.DB) error { return create(tx, parent) })
		},
		"an operation": func(db *gorm.DB, parent *Suite) error {
			_, err := gormplugin.Copy(db, &Suite{}, parent.ID, gormplugin.Below(parent.ID), gormplugin.CopyAs("new"))
			return err
		},
	}
	for name, write := range writes {
		for which, of := range map[string]func(c *gin.Context) context.Context{
			"the request's context": func(c *gin.Context) context.Context { return c.Request.Context() },
			"gin's context":         func(c *gin.Context) context.Context { return c },
			"a copy of gin's":       func(c *gin.Context) context.Context { return c.Copy() },
		} {
			t.Run(name+" with "+which, func(t *testing.T) {
				w := newWorld(t, d, settings{})
				a := w.build("/a")
				w.handled(a, func(c *gin.Context) {
					w.trace.reset()
					w.must(write(w.db.WithContext(of(c)), a))
					if held, events := w.held(), w.trace.String(); held != "X /a" || strings.Contains(events, "grant") {
						t.Errorf("%s is held after the write, want what the request holds; events: %s", held, events)
					}
				})
				w.has("/a", "/a/new")
			})
		}
		t.Run(name+" with the background's context", func(t *testing.T) {
			w := newWorld(t, d, settings{wait: 15 * time.Millisecond})
			a, b := w.build("/a"), w.build("/b")
			bare := w.db.WithContext(context.Background())
			w.handled(a, func(*gin.Context) {
				err := write(bare, a)
				w.fails(err, gormplugin.ErrNoRequestContext)
				w.fails(err, pathlock.ErrConflict) // a job's statement looks the same
				if handler := "DELETE /suites/:id (delete)"; !strings.Contains(err.Error(), handler) {
					t.Errorf("the error does not say %q: %v", handler, err)
				}
				w.must(write(bare, b)) // what the request does not hold is nobody's business
			})
			w.has("/a", "/b", "/b/new")
		})
	}
	t.Run("a lost lock ends a transaction with gin's context", func(t *testing.T) {
		w := newWorld(t, d, settings{})
		a := w.build("/a")
		w.handled(a, func(c *gin.Context) {
			tx := w.db.WithContext(c).Begin()
			w.must(create(tx, a))
			w.must(w.locker.ForceRelease(c, w.tree(), w.locker.Scope(c).Owner()))
			<-c.Request.Context().Done()
			w.fails(tx.Commit().Error, pathlock.ErrLost)
			w.fails(create(w.db.WithContext(c), a), pathlock.ErrLost)
		})
		w.has("/a")
	})
}
