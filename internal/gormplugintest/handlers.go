package gormplugintest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"gorm.io/gorm"
)

// waits is an observer that counts who has to wait.
type waits struct {
	pathlock.NopObserver
	times atomic.Int64
}

// Waiting implements [pathlock.Observer].
func (o *waits) Waiting(context.Context, pathlock.Event) { o.times.Add(1) }

// handled runs a handler in a request for the row s, which holds the row's lock.
func (w *world) handled(s *Suite, fallback bool, handler gin.HandlerFunc) {
	w.Helper()
	locks := middleware.New(w.locker, w.plugin.Resolver(&Suite{}), middleware.Config{
		OnError: func(_ *gin.Context, err error) { w.Error(err) },
	})
	engine := gin.New()
	engine.ContextWithFallback = fallback
	called := false
	engine.DELETE("/suites/:id", locks.Lock(lockspec.Delete(lockspec.Param("id"))), func(c *gin.Context) {
		called = true
		handler(c)
	})
	engine.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(w.Context(), http.MethodDelete, "/suites/"+text(s.ID), nil))
	if !called {
		w.Fatal("the handler was not called")
	}
}

// handlerWrites are the ways in which a handler creates a row below parent.
func handlerWrites() map[string]func(db *gorm.DB, parent *Suite) error {
	create := func(db *gorm.DB, parent *Suite) error {
		return db.Create(&Suite{ParentID: &parent.ID, Name: "new"}).Error
	}
	return map[string]func(db *gorm.DB, parent *Suite) error{
		"a statement": create,
		"Transaction": func(db *gorm.DB, parent *Suite) error {
			return db.Transaction(func(tx *gorm.DB) error { return create(tx, parent) })
		},
		"the plugin's Transaction": func(db *gorm.DB, parent *Suite) error {
			return gormplugin.Transaction(db.Statement.Context, db, func(tx *gorm.DB) error { return create(tx, parent) })
		},
		"Begin": func(db *gorm.DB, parent *Suite) error {
			tx := db.Begin()
			if err := errors.Join(tx.Error, create(tx, parent)); err != nil {
				tx.Rollback()
				return err
			}
			return tx.Commit().Error
		},
		"an operation": func(db *gorm.DB, parent *Suite) error {
			_, err := gormplugin.Copy(db, &Suite{}, parent.ID, gormplugin.Below(parent.ID), gormplugin.CopyAs("new"))
			return err
		},
	}
}

// checkHandlers has handlers write whose requests hold locks, with the contexts that handlers have.
func checkHandlers(t *testing.T, d Database) {
	gin.SetMode(gin.ReleaseMode)
	contexts := map[string]func(c *gin.Context) context.Context{
		"the request's context": func(c *gin.Context) context.Context { return c.Request.Context() },
		"gin's context":         func(c *gin.Context) context.Context { return c },
		"a copy of gin's":       func(c *gin.Context) context.Context { return c.Copy() },
	}
	for name, write := range handlerWrites() {
		for which, of := range contexts {
			for _, fallback := range []bool{false, true} {
				t.Run(name+" with "+which, func(t *testing.T) {
					observer := new(waits)
					w := newWorld(t, d, settings{observer: observer})
					a := w.build("/a")
					w.handled(a, fallback, func(c *gin.Context) {
						w.must(write(w.db.WithContext(of(c)), a))
						if held := w.held(); held != "X /a" {
							t.Errorf("%s is held after the write, want what the request holds", held)
						}
					})
					w.has("/a", "/a/new")
					if n := observer.times.Load(); n != 0 {
						t.Errorf("waited %d times", n)
					}
				})
			}
		}
		for which, ctx := range map[string]context.Context{"no context": nil, "the background's context": context.Background()} {
			t.Run(name+" with "+which, func(t *testing.T) {
				w := newWorld(t, d, settings{wait: shortWait})
				a, b := w.build("/a"), w.build("/b")
				bare := w.db
				if ctx != nil {
					bare = w.db.WithContext(ctx)
				}
				w.handled(a, false, func(*gin.Context) {
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
	}
	for _, p := range []topic{
		{"without its context, a handler waits for others as a job does", checkHandlerWaits},
		{"a lost lock ends a transaction with gin's context", checkHandlerLoses},
		{"a copy of gin's context writes when the request is over", checkHandlerIsOver},
	} {
		p.run(t, d)
	}
}

// checkHandlerWaits has a handler write without its context where somebody else holds the lock.
func checkHandlerWaits(t *testing.T, d Database) {
	queued := make(chan struct{}, 1)
	w := newWorld(t, d, settings{observer: notifier{queued: queued}})
	a, b := w.build("/a"), w.build("/b")
	release := w.holding("/b")
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-queued
		release()
	}()
	w.handled(a, false, func(*gin.Context) { w.must(handlerWrites()["a statement"](w.db, b)) })
	<-done
	w.has("/a", "/b", "/b/new")
}

// notifier is an observer that tells of somebody who has to wait.
type notifier struct {
	pathlock.NopObserver
	queued chan struct{}
}

// Waiting implements [pathlock.Observer].
func (o notifier) Waiting(context.Context, pathlock.Event) { o.queued <- struct{}{} }

// shortWait is a wait that nobody's locks end.
const shortWait = 15 * time.Millisecond

// checkHandlerLoses loses the lock of a request under a transaction that has gin's context.
func checkHandlerLoses(t *testing.T, d Database) {
	w := newWorld(t, d, settings{})
	a := w.build("/a")
	w.handled(a, false, func(c *gin.Context) {
		tx := w.db.WithContext(c).Begin()
		w.must(tx.Error)
		w.must(handlerWrites()["a statement"](tx, a))
		w.must(w.locker.ForceRelease(c, w.tree(), w.locker.Scope(c).Owner()))
		<-c.Request.Context().Done()
		w.fails(tx.Commit().Error, pathlock.ErrLost)
		w.fails(handlerWrites()["a statement"](w.db.WithContext(c), a), pathlock.ErrLost)
	})
	w.has("/a")
}

// checkHandlerIsOver writes by a copy of gin's context when the request is over: under locks of the
// statement's own.
func checkHandlerIsOver(t *testing.T, d Database) {
	w := newWorld(t, d, settings{})
	a := w.build("/a")
	over, done := make(chan struct{}), make(chan error)
	w.handled(a, false, func(c *gin.Context) {
		copied := c.Copy()
		go func() {
			<-over
			done <- handlerWrites()["a statement"](w.db.WithContext(copied), a)
		}()
	})
	close(over)
	w.must(<-done)
	w.has("/a", "/a/new")
}
