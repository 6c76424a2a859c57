package middleware_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestTableLocksItsRoutesAndIsCheckedAgainstTheEngine(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	table := lockspec.Table{
		"DELETE /suites/:id":    lockspec.Delete(lockspec.Param("id")),
		"POST /login":           lockspec.None("touches no tree"),
		`POST /suites\:purge`:   lockspec.Delete(lockspec.Const("2")),
		"PATCH /suites/:id/gon": lockspec.Delete(lockspec.Param("id")),
	}
	f.engine = gin.New()
	f.engine.Use(f.locks.Table(table))
	f.engine.DELETE("/suites/:id", f.holding("X /dir1/dir2"))
	f.engine.POST("/login", f.holding())
	f.engine.POST(`/suites\:purge`, f.holding("X /dir1"))
	f.engine.GET("/suites/:id", f.holding())
	f.engine.PUT("/forgotten", f.holding())

	err := middleware.CheckRoutes(f.engine, table)
	if err == nil || !strings.Contains(err.Error(), "PUT /forgotten") || !strings.Contains(err.Error(), "PATCH /suites/:id/gon") {
		t.Errorf("CheckRoutes says %v", err)
	}
	delete(table, "PATCH /suites/:id/gon")
	table["PUT /forgotten"] = lockspec.None("tested")
	testerr.Is(t, "CheckRoutes refuses a table that fits", middleware.CheckRoutes(f.engine, table), nil)
	for _, request := range []string{"DELETE /suites/3", "POST /login", "GET /suites/3", "POST /suites:purge"} {
		method, path, _ := strings.Cut(request, " ")
		f.is(request, f.send(method, path, ""), http.StatusNoContent, "")
	}
}

func TestOrigin_saysWhichRequest(t *testing.T) {
	own := func(c *gin.Context) string { return "id of " + c.Param("id") }
	for _, tt := range []struct {
		config              middleware.Config
		header, maker, want string
	}{
		{middleware.Config{}, "", "", ""},
		{middleware.Config{}, "r-1", "made", "r-1"},
		{middleware.Config{}, "", "made", "made"},
		{middleware.Config{RequestID: own}, "r-1", "", "id of 3"},
	} {
		f := newFixture(t, memstore.New(), tt.config)
		inner := f.engine.Handler()
		f.engine = gin.New()
		f.engine.PATCH("/suites/:id", func(c *gin.Context) {
			c.Header("X-Request-Id", tt.maker) // as gin-contrib/requestid does
			inner.ServeHTTP(c.Writer, c.Request)
		})
		want := pathlock.Origin{Operation: "rename", Route: "PATCH /suites/:id", RequestID: tt.want}
		f.handler = func(c *gin.Context) {
			if got := pathlock.OriginOf(c.Request.Context()); got != want {
				t.Errorf("the handler's context has %+v, want %+v", got, want)
			}
			snapshot, err := f.locker.Snapshot(c, plan)
			if err != nil || len(snapshot.Holders) != 1 {
				t.Fatalf("%+v, %v", snapshot, err)
			}
			got := snapshot.Holders[0].Origin
			if got.Instance == "" {
				t.Error("the hold names no instance")
			}
			if got.Instance = ""; got != want {
				t.Errorf("the hold has %+v, want %+v", got, want)
			}
			c.Status(http.StatusNoContent)
		}
		f.is(tt.want, f.send("PATCH", "/suites/3", `{"name":"x"}`, "X-Request-Id", tt.header), http.StatusNoContent, "")
	}
}

func TestLock_responseDoesNotWaitForTheRelease(t *testing.T) {
	store, through := &testlock.Watched{Store: memstore.New()}, make(chan struct{})
	store.Set(func(_ context.Context, call string) error {
		if call == "release" {
			<-through
		}
		return nil
	})
	f := newFixture(t, store, middleware.Config{})
	server := httptest.NewServer(f.engine)
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, server.URL+"/suites/3", nil)
	testerr.Must(t, err)
	resp, err := server.Client().Do(req)
	testerr.Must(t, err)
	_ = resp.Body.Close()
	if got := f.held(); resp.StatusCode != http.StatusNoContent || len(got) != 1 {
		t.Errorf("answer %d; held after the response, before the release: %v", resp.StatusCode, got)
	}
	close(through)
	f.nothingLeft()
}

// A value of a Func costs what it costs once per request, however often the nodes are looked at.
func TestFunc_isCalledOncePerRequest(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	calls := 0
	which := lockspec.Func("which", func(_ *http.Request, param func(string) string) (string, bool, error) {
		calls++
		return param("id"), true, nil
	})
	f.engine.POST("/func/:id", f.locks.Lock(lockspec.Delete(which)), f.holding("X /other/dir2"))
	f.nodes.after = f.nodes.movesOnce
	if f.is("the answer", f.send("POST", "/func/3", ""), http.StatusNoContent, ""); calls != 1 || f.nodes.looks != 3 {
		t.Errorf("%d calls and %d looks at the node, want 1 and 3", calls, f.nodes.looks)
	}
	f.nothingLeft()
}

// Outer middleware finds its own request, without the locks and with the form that the handler has
// parsed.
func TestLock_outerMiddlewareFindsItsRequest(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	f.engine.POST("/outer/:id", func(c *gin.Context) {
		original, owner := c.Request, f.locker.Scope(c.Request.Context()).Owner()
		c.Next()
		if c.Request != original || original.PostForm.Get("name") != "n" {
			t.Error("the request is another, or the form that the handler parsed is not there")
		}
		for what, of := range map[string]context.Context{"the request's": c.Request.Context(), "gin's": c} {
			if err := f.tryUnder(of, "/"); err != nil || f.locker.Scope(of).Owner() == owner {
				t.Errorf("%s context still has an owner: %v", what, err)
			}
		}
	}, f.locks.Lock(lockspec.Delete(lockspec.Param("id"))), func(c *gin.Context) { c.String(http.StatusOK, c.PostForm("name")) })
	f.is("the answer", f.send("POST", "/outer/3", "name=n", "Content-Type", "application/x-www-form-urlencoded"), http.StatusOK, "")
	f.nothingLeft()
}

// A goroutine of outer middleware may read a copy of gin's context, which shares the request.
func TestLock_leavesWhatCopiesReadAlone(t *testing.T) {
	for name, spec := range map[string]lockspec.Spec{"locks": lockspec.Rename(lockspec.Param("id"), lockspec.JSON("name")), "no locks": lockspec.None("none")} {
		for _, kind := range []string{"", "Application/JSON"} {
			f := newFixture(t, memstore.New(), middleware.Config{})
			f.engine.POST("/copied/:id", func(c *gin.Context) {
				var reads sync.WaitGroup
				defer reads.Wait()
				copied := c.Copy()
				reads.Go(func() {
					r := copied.Request
					t.Log(name, r.Method, r.URL, r.UserAgent(), r.Context().Err())
				})
				c.Next()
			}, f.locks.Lock(spec), func(c *gin.Context) { c.Status(http.StatusNoContent) })
			f.is("the answer", f.send("POST", "/copied/3", `{"name":"n"}`, "Content-Type", kind), http.StatusNoContent, "")
			f.nothingLeft()
		}
	}
}

// gin's own context, its copies too, has the locks as long as the request holds them.
func TestLock_ginsContextCarriesTheLocks(t *testing.T) {
	for _, fallback := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, memstore.New(), middleware.Config{MaxHold: -1})
			f.engine.ContextWithFallback = fallback
			var copied *gin.Context
			other := f.acquire("/other")
			f.handler = func(c *gin.Context) {
				copied = c.Copy()
				for _, ctx := range []*gin.Context{c, copied} {
					testerr.Is(t, "gin's context, or a copy of it, does not carry the locks", f.tryUnder(ctx, "/dir1/dir2/below"), nil)
					soon, stop := context.WithTimeout(ctx, time.Millisecond)
					defer stop()
					_, err := f.locker.Acquire(soon, pathlock.Request{Tree: plan, Claims: claim("/other")})
					testerr.Is(t, "a wait until a deadline of gin's context names no holder", err, pathlock.ErrConflict)
				}
				lock, err := f.locker.Acquire(c, pathlock.Request{Tree: plan, Claims: claim("/dir1/dir2")})
				testerr.Must(t, err)
				defer func() { _ = lock.Release(c) }()
				testerr.None(t, f.locker.ForceRelease(c, plan, f.locker.Scope(c).Owner()))
				<-lock.Context().Done()
				testerr.Is(t, "a lost lock is not noticed through gin's context", f.tryUnder(c, "/dir1/dir2/below"), pathlock.ErrLost)
			}
			f.is("the answer", f.send("DELETE", "/suites/3", ""), http.StatusOK, "")
			if err := f.tryUnder(copied, "/dir1/dir2"); err != nil && !fallback {
				t.Errorf("the copy of an ended request's context cannot take locks of its own: %v", err)
			}
			f.release(other)
			f.nothingLeft()
		})
	}
}

func TestLock_unknownRoutesStayUnknown(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	f.engine = gin.New()
	f.engine.HandleMethodNotAllowed = true
	f.engine.Use(f.locks.Lock(lockspec.Rename(lockspec.Param("id"), lockspec.JSON("name"))))
	f.engine.PATCH("/suites/:id", f.holding("X /dir1/dir2", "X /dir1/n"))
	for request, want := range map[string]int{"PATCH /suites": 404, "PUT /suites/3": 405, "PATCH /suites/x": 400, "PATCH /suites/3": 204} {
		method, path, _ := strings.Cut(request, " ")
		f.is(request, f.send(method, path, `{"name":"n"}`), want, "")
	}
}

// gin gives its context to another request when a middleware further out does not wait for the
// handlers, as gin-contrib/timeout did not before v1.2.1.
func TestLock_LeavesGinsContextToTheNextRequest(t *testing.T) {
	next := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/next", nil)
	for _, when := range []string{"while it waits", "while its handler runs"} {
		for _, fails := range []bool{false, true} {
			for name, spec := range map[string]lockspec.Spec{"locks": lockspec.Delete(lockspec.Param("id")), "no locks": lockspec.None("none")} {
				if when == "while it waits" && name == "no locks" {
					continue
				}
				store := &testlock.Watched{Store: memstore.New()}
				f := newFixture(t, store, middleware.Config{})
				var gins *gin.Context
				ctx, leave := context.WithCancel(t.Context())
				handOn := func() {
					gins.Request = next
					if fails {
						leave()
					}
				}
				if when == "while it waits" {
					store.Set(func(_ context.Context, call string) error {
						if call == "acquire" {
							handOn()
						}
						return nil
					})
				}
				served := false
				f.engine.POST("/late/:id", func(c *gin.Context) { gins = c }, f.locks.Lock(spec), func(c *gin.Context) {
					served = true
					if when != "while it waits" {
						c.Request = c.Request.WithContext(context.WithValue(c.Request.Context(), t, "the handler's own"))
						handOn()
					} else if owner := f.locker.Scope(c.Request.Context()).Owner(); c.Request != next || f.locker.Serves(owner) {
						t.Errorf("%s, %s: the next request has the locks of the one before", when, name)
					}
				})
				w := f.sendUnder(ctx, http.MethodPost, "/late/3", "")
				if gins.Request != next || gins.IsAborted() || len(gins.Errors) > 0 || w.Code != http.StatusOK || !served {
					t.Errorf("%s, %s, fails = %t: the next request was changed (%v, aborted = %t, %v, %d)", when, name, fails, gins.Request.URL, gins.IsAborted(), gins.Errors, w.Code)
				}
				f.nothingLeft()
			}
		}
	}
}

// If somebody who waits for the old place holds the new one, the request lets go and starts over.
func TestRetry_thatWouldDeadlockStartsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, memstore.New(), middleware.Config{Wait: time.Minute})
		other := f.acquire("/other")
		var others sync.WaitGroup
		f.nodes.after = func(id string, looks int) {
			if f.nodes.movesOnce(id, looks); looks != 2 {
				return
			}
			others.Go(func() {
				old, err := f.locker.Acquire(other.Context(), pathlock.Request{Tree: plan, Claims: claim("/dir1"), Wait: time.Minute})
				testerr.None(t, err)
				f.release(old)
				f.release(other)
			})
			synctest.Wait()
		}
		f.is("the request", f.send("DELETE", "/suites/3", ""), http.StatusNoContent, "")
		others.Wait()
		f.nothingLeft()
	})
}
