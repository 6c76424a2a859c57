package middleware_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
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
	f.engine.PATCH("/suites/:id", locks.Lock(lockspec.Rename(lockspec.Param("id"), lockspec.JSON("name"))), handle)
	f.engine.DELETE("/suites/:id", locks.Lock(lockspec.Delete(lockspec.Param("id"))), handle)
	f.engine.POST("/suites/:id/move", locks.Lock(lockspec.Move(lockspec.Param("id"), lockspec.JSON("target.parent_id"))), handle)
	f.engine.POST("/form", locks.Lock(lockspec.Insert(lockspec.Form("parent"), lockspec.Form("name"))), handle)
	f.engine.POST("/query", locks.Lock(lockspec.Insert(lockspec.Query("parent"), lockspec.Header("X-Name"))), handle)
	f.engine.POST("/func", locks.Lock(lockspec.Insert(lockspec.Const("4"), lockspec.Func("user", func(r *http.Request, _ func(string) string) (string, bool, error) {
		name, _, ok := r.BasicAuth()
		return name, ok, nil
	}))), handle)
	f.engine.PUT("/plans/:plan", locks.Lock(lockspec.All(
		lockspec.Names("project", lockspec.Const("p")), lockspec.Gate(lockspec.Param("plan").Kind("plan")))), handle)
	f.engine.POST("/none", locks.Lock(lockspec.None("writes nothing")), handle)
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
	if trees, err := f.locker.Trees(context.Background()); err != nil || len(trees) != 0 {
		f.Errorf("left behind: %v, %v", trees, err)
	}
}

func TestHandlersRunUnderTheSpecsLocks(t *testing.T) {
	for _, tt := range []struct {
		what, method, target, body string
		headers                    []string
		held                       []string
	}{
		{"rename", "PATCH", "/suites/3", `{"name":"new"}`, nil, []string{"X /dir1/dir2", "X /dir1/new"}},
		{"delete", "DELETE", "/suites/3", ``, nil, []string{"X /dir1/dir2"}},
		{"move", "POST", "/suites/3/move", `{"target":{"parent_id":4}}`, nil, []string{"X /dir1/dir2", "X /other/dir2"}},
		{"form", "POST", "/form", `parent=2&name=n+1`, []string{"Content-Type", "application/x-www-form-urlencoded"}, []string{"X /dir1/n 1"}},
		{"multipart form", "POST", "/form", "--b\r\nContent-Disposition: form-data; name=\"parent\"\r\n\r\n2\r\n--b\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nm\r\n--b--\r\n",
			[]string{"Content-Type", "multipart/form-data; boundary=b"}, []string{"X /dir1/m"}},
		{"query and header", "POST", "/query?parent=2", ``, []string{"X-Name", "h"}, []string{"X /dir1/h"}},
		{"const and func", "POST", "/func", ``, []string{"Authorization", "Basic YW5uYTp4"}, []string{"X /other/anna"}},
		{"gate", "PUT", "/plans/7", ``, nil, []string{"gate"}},
		{"none", "POST", "/none", ``, nil, nil},
	} {
		t.Run(tt.what, func(t *testing.T) {
			f := newFixture(t, memstore.New(), middleware.Config{})
			called := false
			f.handler = func(c *gin.Context) {
				called = true
				if got := f.held(); !slices.Equal(got, tt.held) {
					t.Errorf("held %v, want %v", got, tt.held)
				}
				body, err := io.ReadAll(c.Request.Body)
				if err != nil || string(body) != tt.body {
					t.Errorf("the handler reads the body %q, %v", body, err)
				}
				c.Status(http.StatusNoContent)
			}
			if w := f.send(tt.method, tt.target, tt.body, tt.headers...); w.Code != http.StatusNoContent || !called {
				t.Errorf("answer %d, handler called: %v: %s", w.Code, called, w.Body)
			}
			f.nothingLeft()
		})
	}
}

func TestFailuresAreAnsweredBeforeTheHandler(t *testing.T) {
	for _, tt := range []struct {
		what, method, target, body string
		status                     int
		kind, says                 string
	}{
		{"id that is no number", "DELETE", "/suites/abc", ``, 400, "invalid-request", "id"},
		{"id that does not exist", "DELETE", "/suites/99", ``, 404, "not-found", "99"},
		{"malformed JSON", "PATCH", "/suites/3", `{"name"`, 400, "invalid-request", ""},
		{"no body", "PATCH", "/suites/3", ``, 400, "invalid-request", ""},
		{"missing name", "PATCH", "/suites/3", `{}`, 400, "invalid-request", "name"},
		{"name with a slash", "PATCH", "/suites/3", `{"name":"a/b"}`, 400, "invalid-request", "name"},
		{"duplicate key", "PATCH", "/suites/3", `{"name":"a","name":"b"}`, 400, "invalid-request", "name"},
		{"name of the wrong type", "PATCH", "/suites/3", `{"name":["a"]}`, 400, "invalid-request", "name"},
		{"destination that does not exist", "POST", "/suites/3/move", `{"target":{"parent_id":99}}`, 404, "not-found", "99"},
		{"move into the own subtree", "POST", "/suites/2/move", `{"target":{"parent_id":3}}`, 409, "would-cycle", "/dir1"},
		{"move into itself", "POST", "/suites/2/move", `{"target":{"parent_id":2}}`, 409, "would-cycle", "/dir1"},
		{"move of the root", "POST", "/suites/1/move", `{"target":{"parent_id":2}}`, 400, "invalid-request", ""},
		{"body over the limit", "PATCH", "/suites/3", `{"name":"` + strings.Repeat("x", 2000) + `"}`, 413, "too-large", "1000"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			f := newFixture(t, memstore.New(), middleware.Config{MaxBody: 1000})
			f.handler = func(*gin.Context) { t.Error("the handler was called") }
			w := f.send(tt.method, tt.target, tt.body)
			if w.Code != tt.status {
				t.Fatalf("answer %d: %s, want %d", w.Code, w.Body, tt.status)
			}
			p := f.problem(w)
			if kind, _ := p["type"].(string); !strings.HasSuffix(kind, tt.kind) {
				t.Errorf("type %q, want one that ends in %q", kind, tt.kind)
			}
			detail, _ := p["detail"].(string)
			if !strings.Contains(detail, tt.says) {
				t.Errorf("detail %q does not say %q", detail, tt.says)
			}
			for _, name := range []string{"pathlock:", "lockspec:", "middleware:"} {
				if strings.Contains(detail, name) {
					t.Errorf("detail %q speaks of Go packages", detail)
				}
			}
			f.nothingLeft()
		})
	}
}

func TestABodyOverTheLimitIsRefusedWithoutALengthToo(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{MaxBody: 10})
	r := httptest.NewRequestWithContext(t.Context(), "PATCH", "/suites/3", io.MultiReader(strings.NewReader(`{"name":"`), strings.NewReader(`longer than that"}`)))
	r.ContentLength = -1
	w := httptest.NewRecorder()
	f.engine.ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("answer %d: %s", w.Code, w.Body)
	}
}

func TestLockedByOthersIs423WithTheHolder(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{Wait: pathlock.NoWait, RetryAfter: 1500 * time.Millisecond})
	lock, err := f.locker.Acquire(t.Context(), pathlock.Request{
		Tree: plan, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1"))}, Note: "rename by anna",
	})
	if err != nil {
		t.Fatal(err)
	}
	f.handler = func(*gin.Context) { t.Error("the handler was called") }
	w := f.send("DELETE", "/suites/3", "")
	if w.Code != http.StatusLocked {
		t.Fatalf("answer %d: %s", w.Code, w.Body)
	}
	if got := w.Header().Get("Retry-After"); got != "2" {
		t.Errorf("Retry-After %q, want 1.5 s rounded up", got)
	}
	p := f.problem(w)
	holder, _ := p["holder"].(map[string]any)
	if p["path"] != "/dir1" || p["mode"] != "IX" || holder["what"] != "rename by anna" {
		t.Errorf("the problem is %v", p)
	}
	for _, when := range []string{"since", "until"} {
		text, _ := holder[when].(string)
		if at, err := time.Parse(time.RFC3339, text); err != nil || time.Since(at).Abs() > time.Minute {
			t.Errorf("holder's %s is %v", when, holder[when])
		}
	}
	if strings.Contains(w.Body.String(), string(f.locker.Scope(lock.Context()).Owner())) {
		t.Error("the body shows the owner, which is all that is needed to release its locks")
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Error(err)
	}
	f.nothingLeft()
}

// mishap is a store that fails in one way.
type mishap struct {
	pathlock.Store
	err error
}

func (m mishap) Acquire(context.Context, pathlock.Acquisition) (pathlock.Grant, error) {
	return pathlock.Grant{}, m.err
}

func TestALockStoreThatIsDownIs503(t *testing.T) {
	f := newFixture(t, mishap{memstore.New(), fmt.Errorf("%w: connection refused", pathlock.ErrUnavailable)}, middleware.Config{})
	f.handler = func(*gin.Context) { t.Error("the handler was called") }
	w := f.send("DELETE", "/suites/3", "")
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" {
		t.Fatalf("answer %d, Retry-After %q: %s", w.Code, w.Header().Get("Retry-After"), w.Body)
	}
	if kind, _ := f.problem(w)["type"].(string); !strings.HasSuffix(kind, "lock-store-unavailable") {
		t.Errorf("type %q", kind)
	}
}

func TestUnknownErrorsAre500WithoutDetail(t *testing.T) {
	f := newFixture(t, mishap{memstore.New(), errors.New("secret of the house")}, middleware.Config{})
	w := f.send("DELETE", "/suites/3", "")
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("answer %d: %s", w.Code, w.Body)
	}
}

// The path is read, the node moves, the lock is granted on the old path: the
// middleware must notice and lock where the node is now.
func TestANodeThatMovedMeanwhileIsLockedWhereItIs(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	resolved := 0
	f.nodes.after = func(string) {
		if resolved++; resolved == 1 {
			f.nodes.move("3", "/other/dir2")
		}
	}
	f.handler = func(c *gin.Context) {
		if got, want := f.held(), []string{"X /other/dir2"}; !slices.Equal(got, want) {
			t.Errorf("held %v, want %v", got, want)
		}
		c.Status(http.StatusNoContent)
	}
	if w := f.send("DELETE", "/suites/3", ""); w.Code != http.StatusNoContent {
		t.Errorf("answer %d: %s", w.Code, w.Body)
	}
	f.nothingLeft()
}

func TestANodeThatIsGoneWhenTheLockIsGrantedIs404(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	f.handler = func(*gin.Context) { t.Error("the handler was called") }
	f.nodes.after = func(id string) { f.nodes.move(id, "") }
	if w := f.send("DELETE", "/suites/3", ""); w.Code != http.StatusNotFound {
		t.Errorf("answer %d: %s", w.Code, w.Body)
	}
	f.nothingLeft()
}

func TestANodeThatNeverRestsIs409AfterEveryRetry(t *testing.T) {
	for retries := range 4 {
		f := newFixture(t, memstore.New(), middleware.Config{Retry: func() redislock.RetryStrategy {
			return redislock.LimitRetry(redislock.LinearBackoff(time.Millisecond), retries)
		}})
		f.handler = func(*gin.Context) { t.Error("the handler was called") }
		resolved := 0
		f.nodes.after = func(id string) {
			resolved++
			f.nodes.move(id, fmt.Sprintf("/somewhere%d", resolved))
		}
		w := f.send("DELETE", "/suites/3", "")
		if w.Code != http.StatusConflict {
			t.Fatalf("answer %d: %s", w.Code, w.Body)
		}
		if kind, _ := f.problem(w)["type"].(string); !strings.HasSuffix(kind, "path-changed") {
			t.Errorf("type %q", kind)
		}
		if want := 2 * (retries + 1); resolved != want {
			t.Errorf("resolved %d times with %d retries, want %d", resolved, retries, want)
		}
		f.nothingLeft()
	}
}

func TestLocksAreReleasedOnPanic(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	f.handler = func(*gin.Context) { panic("in the handler") }
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		f.send("DELETE", "/suites/3", "")
	}()
	f.nothingLeft()
}

func TestALostLeaseEndsTheHandlersContext(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{Lease: 60 * time.Millisecond})
	f.handler = func(c *gin.Context) {
		ctx := c.Request.Context()
		if err := f.locker.ForceRelease(ctx, plan, f.locker.Scope(ctx).Owner()); err != nil {
			t.Error(err)
		}
		<-ctx.Done()
		middleware.New(f.locker, nil, middleware.Config{}).Fail(c, context.Cause(ctx))
	}
	if w := f.send("DELETE", "/suites/3", ""); w.Code != http.StatusServiceUnavailable {
		t.Errorf("answer %d: %s", w.Code, w.Body)
	}
	f.nothingLeft()
}

// waiting tells when a request has taken its place in the queue.
type waiting struct {
	pathlock.Store
	queued chan struct{}
}

func (s waiting) Acquire(ctx context.Context, a pathlock.Acquisition) (pathlock.Grant, error) {
	told := a.Waiting
	a.Waiting = func() {
		told()
		s.queued <- struct{}{}
	}
	return s.Store.Acquire(ctx, a)
}

func TestAClientThatGoesAwayLeavesTheQueue(t *testing.T) {
	store := waiting{memstore.New(), make(chan struct{})}
	f := newFixture(t, store, middleware.Config{Wait: time.Hour})
	lock, err := f.locker.Acquire(t.Context(), pathlock.Request{Tree: plan, Claims: []pathlock.Claim{pathlock.X(pathlock.Root())}})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan *httptest.ResponseRecorder, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorder := httptest.NewRecorder()
		f.engine.ServeHTTP(recorder, r)
		served <- recorder
	}))
	defer server.Close()

	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		req, err := http.NewRequestWithContext(ctx, http.MethodPatch, server.URL+"/suites/3", strings.NewReader(`{"name":"n"}`))
		if err != nil {
			t.Error(err)
			return
		}
		if resp, err := server.Client().Do(req); err == nil {
			_ = resp.Body.Close()
			t.Errorf("the client that left was answered %d", resp.StatusCode)
		}
	}()
	<-store.queued
	leave()
	<-gone
	if w := <-served; w.Code != middleware.StatusClientGone || w.Body.Len() != 0 {
		t.Errorf("logged as %d, with the body %q", w.Code, w.Body)
	}
	snapshot, err := f.locker.Snapshot(t.Context(), plan)
	if err != nil || len(snapshot.Waiters) != 0 || len(snapshot.Holders) != 1 {
		t.Errorf("in the lock table: %+v, %v", snapshot, err)
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Error(err)
	}
	f.nothingLeft()
}

func TestOnErrorReplacesTheAnswers(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{OnError: func(c *gin.Context, err error) {
		c.String(http.StatusTeapot, "not found: %v", errors.Is(err, pathlock.ErrNotFound))
	}})
	f.handler = func(*gin.Context) { t.Error("the handler was called") }
	if w := f.send("DELETE", "/suites/99", ""); w.Code != http.StatusTeapot || w.Body.String() != "not found: true" {
		t.Errorf("answer %d: %s", w.Code, w.Body)
	}
}

func TestSpecsThatCannotWorkStopTheProgramAtTheStart(t *testing.T) {
	locks := middleware.New(pathlock.New(memstore.New()), nil, middleware.Config{})
	for what, spec := range map[string]lockspec.Spec{
		"the zero spec":           {},
		"a kind without resolver": lockspec.Delete(lockspec.Param("id").Kind("case")),
		"a source without a name": lockspec.Delete(lockspec.Param("")),
	} {
		t.Run(what, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("accepted")
				}
			}()
			locks.Lock(spec)
		})
	}
}

func TestTableLocksItsRoutesAndIsCheckedAgainstTheEngine(t *testing.T) {
	locker := pathlock.New(memstore.New())
	resolver := &nodes{paths: map[string]string{"3": "/dir1/dir2"}}
	table := lockspec.Table{
		"DELETE /suites/:id":    lockspec.Delete(lockspec.Param("id")),
		"POST /login":           lockspec.None("touches no tree"),
		"PATCH /suites/:id/gon": lockspec.Delete(lockspec.Param("id")),
	}
	f := &fixture{T: t, engine: gin.New(), locker: locker}
	f.engine.Use(middleware.New(locker, resolver, middleware.Config{}).Table(table))
	report := func(c *gin.Context) { c.String(http.StatusOK, "%v", f.held()) }
	f.engine.DELETE("/suites/:id", report)
	f.engine.POST("/login", report)
	f.engine.GET("/suites/:id", report)
	f.engine.PUT("/forgotten", report)

	for target, want := range map[string]string{
		"DELETE /suites/3": "[X /dir1/dir2]", "POST /login": "[]", "GET /suites/3": "[]",
	} {
		method, path, _ := strings.Cut(target, " ")
		if w := f.send(method, path, ""); w.Body.String() != want {
			t.Errorf("%s holds %s, want %s", target, w.Body, want)
		}
	}
	err := middleware.CheckRoutes(f.engine, table)
	for _, problem := range []string{"PUT /forgotten", "PATCH /suites/:id/gon"} {
		if err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("CheckRoutes says %v, which does not name %s", err, problem)
		}
	}
	delete(table, "PATCH /suites/:id/gon")
	table["PUT /forgotten"] = lockspec.None("tested")
	if err := middleware.CheckRoutes(f.engine, table); err != nil {
		t.Errorf("CheckRoutes refuses a table that fits: %v", err)
	}
}

// Two requests on one node run one after the other, two on different nodes at once.
func TestRequestsExcludeEachOtherOnlyWhereTheyCollide(t *testing.T) {
	store := waiting{memstore.New(), make(chan struct{}, 1)}
	f := newFixture(t, store, middleware.Config{Wait: time.Minute})
	inside, leave := make(chan string), make(chan struct{})
	f.handler = func(c *gin.Context) {
		inside <- c.Param("id")
		<-leave
		c.Status(http.StatusNoContent)
	}
	var requests sync.WaitGroup
	begin := func(target string) {
		requests.Go(func() {
			if w := f.send("DELETE", target, ""); w.Code != http.StatusNoContent {
				t.Errorf("%s: %d", target, w.Code)
			}
		})
	}
	begin("/suites/3")
	<-inside
	begin("/suites/4") // elsewhere: gets in at once
	<-inside
	begin("/suites/2") // above the first: has to wait
	<-store.queued
	select {
	case id := <-inside:
		t.Errorf("%s got in beside one below it", id)
	default:
	}
	leave <- struct{}{}
	leave <- struct{}{}
	if id := <-inside; id != "2" {
		t.Errorf("%s got in, want 2", id)
	}
	leave <- struct{}{}
	requests.Wait()
	f.nothingLeft()
}

// unreadable fails the test when it is read.
type unreadable struct{ *testing.T }

func (u unreadable) Read([]byte) (int, error) {
	u.Error("the body was read")
	return 0, io.EOF
}

func TestABodyThatSaysItIsTooLongIsNotRead(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{MaxBody: 1000})
	r := httptest.NewRequestWithContext(t.Context(), "PATCH", "/suites/3", unreadable{t})
	r.ContentLength = 1001
	w := httptest.NewRecorder()
	f.engine.ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("answer %d: %s", w.Code, w.Body)
	}
}

func TestABodyThatNoValueIsNeededOfIsLeftToTheHandler(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{MaxBody: 10})
	long := strings.Repeat("x", 1000)
	f.handler = func(c *gin.Context) {
		if body, err := io.ReadAll(c.Request.Body); err != nil || string(body) != long {
			t.Errorf("the handler reads %d bytes, %v", len(body), err)
		}
		c.Status(http.StatusNoContent)
	}
	if w := f.send("DELETE", "/suites/3", long); w.Code != http.StatusNoContent {
		t.Errorf("answer %d: %s", w.Code, w.Body)
	}
}

// A spec over two trees takes both or none, for one owner.
func TestSeveralTreesAreTakenTogether(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{Wait: pathlock.NoWait})
	names, err := pathlock.NewTree("project", "p")
	if err != nil {
		t.Fatal(err)
	}
	f.handler = func(c *gin.Context) {
		for _, tree := range []pathlock.Tree{names, plan} {
			again, err := f.locker.Acquire(c.Request.Context(), pathlock.Request{Tree: tree, Gate: true, Wait: pathlock.NoWait})
			if err != nil {
				t.Errorf("the handler does not hold the gate of %s: %v", tree, err)
				continue
			}
			if err := again.Release(c.Request.Context()); err != nil {
				t.Error(err)
			}
		}
		c.Status(http.StatusNoContent)
	}
	if w := f.send("PUT", "/plans/7", ""); w.Code != http.StatusNoContent {
		t.Errorf("answer %d: %s", w.Code, w.Body)
	}
	f.nothingLeft()

	other, err := f.locker.Acquire(t.Context(), pathlock.Request{Tree: plan, Claims: []pathlock.Claim{pathlock.IX(pathlock.Root())}})
	if err != nil {
		t.Fatal(err)
	}
	if w := f.send("PUT", "/plans/7", ""); w.Code != http.StatusLocked {
		t.Errorf("answer %d: %s", w.Code, w.Body)
	}
	if snapshot, err := f.locker.Snapshot(t.Context(), names); err != nil || len(snapshot.Holders) != 0 {
		t.Errorf("the first tree is still held after the second was refused: %v, %v", snapshot.Holders, err)
	}
	if err := other.Release(t.Context()); err != nil {
		t.Error(err)
	}
}
