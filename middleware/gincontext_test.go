package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/gincontext"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestFuncSeesGinsContext(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	locks := middleware.New(f.locker, f.nodes, middleware.Config{})
	home := lockspec.Func("home", func(r *http.Request, _ func(string) string) (string, bool, error) {
		c := middleware.GinContext(r)
		if c == nil {
			return "", false, errors.New("there is no gin context")
		}
		return fmt.Sprint(c.GetInt("home")), true, nil
	})
	f.engine.POST("/home", func(c *gin.Context) { c.Set("home", 4) }, locks.Lock(lockspec.Insert(home, lockspec.Const("n"))), func(c *gin.Context) {
		if middleware.GinContext(c.Request) != nil {
			t.Error("the handler's request carries the gin context, too")
		}
		c.String(http.StatusOK, strings.Join(f.held(), ", "))
	})
	if w := f.send("POST", "/home", ""); w.Body.String() != "X /other/n" {
		t.Errorf("answer %d: %s", w.Code, w.Body)
	}
	if c := middleware.GinContext(httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)); c != nil {
		t.Errorf("a request of no gin context has %v", c)
	}
}

// Each user has a home folder, and the middleware before has found out who the user is.
func ExampleGinContext() {
	locker := pathlock.New(memstore.New())
	drive, _ := pathlock.NewTree("drive", "1")
	home := pathlock.ResolverFunc(func(_ context.Context, user string) (pathlock.Location, error) {
		return pathlock.Location{Tree: drive, Path: pathlock.MustParsePath("/home/" + user)}, nil
	})
	locks := middleware.New(locker, home, middleware.Config{})
	authenticate := func(c *gin.Context) { c.Set("user", "anna") }
	user := lockspec.Func("user", func(r *http.Request, _ func(string) string) (string, bool, error) {
		name := middleware.GinContext(r).GetString("user")
		return name, name != "", nil
	})
	upload := func(c *gin.Context) {
		snapshot, err := locker.Snapshot(c.Request.Context(), drive)
		if err != nil {
			locks.Fail(c, err)
			return
		}
		fmt.Println(snapshot.Holders[0].Claims)
		c.Status(http.StatusCreated)
	}

	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.POST("/uploads", authenticate, locks.Lock(lockspec.Insert(user, lockspec.JSON("name"))), upload)
	w := httptest.NewRecorder()
	body := strings.NewReader(`{"name": "report"}`)
	r.ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/uploads", body))
	fmt.Println(w.Code)
	// Output:
	// [IX / IX /home IX /home/anna X /home/anna/report]
	// 201
}

// gin's HandleContext has its context forget what was set on it. The locks are found all the same,
// in the route that the request is handed on to and afterwards, until the request is over.
func TestARequestThatIsHandedOnKeepsItsLocks(t *testing.T) {
	for what, fallback := range map[string]bool{"by default": false, "with ContextWithFallback": true} {
		f := newFixture(t, memstore.New(), middleware.Config{})
		f.engine.ContextWithFallback = fallback
		locks := middleware.New(f.locker, f.nodes, middleware.Config{})
		again := func(c *gin.Context) {
			derived, cancel := context.WithCancel(c)
			defer cancel()
			for _, ctx := range []context.Context{c, derived} {
				lock, err := f.locker.Acquire(ctx, pathlock.Request{Tree: plan, Claims: claim("/dir1/dir2"), Wait: pathlock.NoWait})
				if err != nil {
					t.Errorf("%s, %s: the locks are not found: %v", what, c.FullPath(), err)
					continue
				}
				if inner, err := f.locker.Acquire(lock.Context(), pathlock.Request{Tree: plan, Claims: claim("/dir1/dir2"), Wait: pathlock.NoWait}); err != nil {
					t.Error(err)
				} else {
					_ = inner.Release(c)
				}
				_ = lock.Release(c)
			}
		}
		f.engine.POST("/plain", again)
		f.engine.POST("/exempt", locks.Lock(lockspec.None("it is handed on")), again)
		var copied *gin.Context
		f.handler = func(c *gin.Context) {
			for _, path := range []string{"/plain", "/exempt"} {
				c.Request.Method, c.Request.URL.Path = http.MethodPost, path
				f.engine.HandleContext(c)
				again(c)
			}
			copied = c.Copy()
		}
		f.send("DELETE", "/suites/3", "")
		if gincontext.Join(copied) != context.Context(copied) {
			t.Errorf("%s: the locks are found after the request", what)
		}
		f.nothingLeft()
	}
}
