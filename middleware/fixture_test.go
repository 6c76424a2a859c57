package middleware_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
)

// nodes is a resolver over a table in memory.
type nodes struct {
	mu    sync.Mutex
	paths map[string]string
	// after is called with every id that has been resolved.
	after func(id string)
}

func (n *nodes) Resolve(_ context.Context, id string) (pathlock.Location, error) {
	if _, err := strconv.ParseInt(id, 10, 64); err != nil {
		return pathlock.Location{}, fmt.Errorf("%w: %q is not a number", pathlock.ErrInvalidID, id)
	}
	n.mu.Lock()
	path, ok := n.paths[id]
	after := n.after
	n.mu.Unlock()
	if after != nil {
		after(id)
	}
	if !ok {
		return pathlock.Location{}, fmt.Errorf("%w: suite %s", pathlock.ErrNotFound, id)
	}
	return pathlock.Location{Tree: plan, Path: pathlock.MustParsePath(path)}, nil
}

func (n *nodes) move(id, path string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if path == "" {
		delete(n.paths, id)
		return
	}
	n.paths[id] = path
}

var plan = func() pathlock.Tree {
	tree, err := pathlock.NewTree("testplan", "1")
	if err != nil {
		panic(err)
	}
	return tree
}()

// fixture is an engine with one route of each kind.
type fixture struct {
	*testing.T
	engine  *gin.Engine
	locker  *pathlock.Locker
	nodes   *nodes
	handler gin.HandlerFunc
}

// held is what is locked in the plan while a handler runs, without intentions.
func (f *fixture) held() []string {
	f.Helper()
	snapshot, err := f.locker.Snapshot(context.Background(), plan)
	if err != nil {
		f.Error(err)
	}
	var held []string
	for _, hold := range snapshot.Holders {
		if hold.Gate {
			held = append(held, "gate")
		}
		for _, c := range hold.Claims {
			if c.Mode == pathlock.ModeX || c.Mode == pathlock.ModeS {
				held = append(held, c.String())
			}
		}
	}
	return held
}

func newFixture(t *testing.T, store pathlock.Store, config middleware.Config) *fixture {
	t.Helper()
	return newFixtureOf(t, store, config, func(s lockspec.Spec) lockspec.Spec { return s })
}

// newAssertedFixture is a fixture whose specs say that what their handlers write is asserted.
func newAssertedFixture(t *testing.T, store pathlock.Store, config middleware.Config) *fixture {
	t.Helper()
	return newFixtureOf(t, store, config, lockspec.Spec.Asserted)
}

// newFixtureOf is a fixture whose specs are changed by vary.
func newFixtureOf(t *testing.T, store pathlock.Store, config middleware.Config, vary func(lockspec.Spec) lockspec.Spec) *fixture {
	t.Helper()
	f := &fixture{
		T:      t,
		engine: gin.New(),
		locker: pathlock.New(store, pathlock.WithWait(5*time.Second),
			pathlock.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))),
		nodes:   &nodes{paths: map[string]string{"1": "/", "2": "/dir1", "3": "/dir1/dir2", "4": "/other"}},
		handler: func(c *gin.Context) { c.Status(http.StatusNoContent) },
	}
	if config.Resolvers == nil {
		config.Resolvers = map[string]pathlock.Resolver{"plan": pathlock.ResolverFunc(func(_ context.Context, id string) (pathlock.Location, error) {
			return pathlock.Location{Tree: plan}, nil
		})}
	}
	locks := middleware.New(f.locker, f.nodes, config)
	handle := func(c *gin.Context) { f.handler(c) }
	lock := func(spec lockspec.Spec) gin.HandlerFunc { return locks.Lock(vary(spec)) }
	f.engine.PATCH("/suites/:id", lock(lockspec.Rename(lockspec.Param("id"), lockspec.JSON("name"))), handle)
	f.engine.DELETE("/suites/:id", lock(lockspec.Delete(lockspec.Param("id"))), handle)
	f.engine.POST("/suites/:id/move", lock(lockspec.Move(lockspec.Param("id"), lockspec.JSON("target.parent_id"))), handle)
	f.engine.POST("/form", lock(lockspec.Insert(lockspec.Form("parent"), lockspec.Form("name"))), handle)
	f.engine.POST("/query", lock(lockspec.Insert(lockspec.Query("parent"), lockspec.Header("X-Name"))), handle)
	f.engine.POST("/func", lock(lockspec.Insert(lockspec.Const("4"), lockspec.Func("user", func(r *http.Request, _ func(string) string) (string, bool, error) {
		name, _, ok := r.BasicAuth()
		return name, ok, nil
	}))), handle)
	f.engine.PUT("/plans/:plan", lock(lockspec.All(
		lockspec.Names("project", lockspec.Const("p")), lockspec.Gate(lockspec.Param("plan").Kind("plan")))), handle)
	f.engine.POST("/none", lock(lockspec.None("writes nothing")), handle)
	return f
}

func (f *fixture) send(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	f.Helper()
	r := httptest.NewRequestWithContext(f.Context(), method, target, strings.NewReader(body))
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	f.engine.ServeHTTP(w, r)
	return w
}

// problem reads the body of a failure.
func (f *fixture) problem(w *httptest.ResponseRecorder) map[string]any {
	f.Helper()
	if got := w.Header().Get("Content-Type"); got != "application/problem+json" {
		f.Errorf("content type %q, body %s", got, w.Body)
	}
	var p map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		f.Fatalf("%v in %s", err, w.Body)
	}
	if status, _ := p["status"].(float64); int(status) != w.Code {
		f.Errorf("the body's status is %v, the answer's %d", p["status"], w.Code)
	}
	return p
}

func (f *fixture) nothingLeft() {
	f.Helper()
	if err := f.locker.Shutdown(context.Background()); err != nil {
		f.Error(err)
	}
	if trees, err := f.locker.Trees(context.Background()); err != nil || len(trees) != 0 {
		f.Errorf("left behind: %v, %v", trees, err)
	}
}

// mishap is a store that fails in one way.
type mishap struct {
	pathlock.Store
	err error
}

func (m mishap) Acquire(context.Context, pathlock.Acquisition) (pathlock.Grant, error) {
	return pathlock.Grant{}, m.err
}

// waiting tells when a request has taken its place in the queue.
type waiting struct {
	pathlock.Store
	queued chan struct{}
}

// Local has releases done when they return.
func (s waiting) Local() bool { return true }

func (s waiting) Acquire(ctx context.Context, a pathlock.Acquisition) (pathlock.Grant, error) {
	told := a.Waiting
	a.Waiting = func() {
		told()
		s.queued <- struct{}{}
	}
	return s.Store.Acquire(ctx, a)
}
