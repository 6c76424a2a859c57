package middleware_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
)

var plan, elsewhere = treeOf("testplan", "1"), treeOf("testplan", "2")

func treeOf(namespace, id string) pathlock.Tree {
	tree, err := pathlock.NewTree(namespace, id)
	if err != nil {
		panic(err)
	}
	return tree
}

// nodes is a resolver over a table in memory. A path in the other tree begins with "elsewhere".
type nodes struct {
	mu    sync.Mutex
	paths map[string]string
	// after is called with every id that has been resolved, and how many there were.
	after func(id string, looks int)
	looks int
}

func (n *nodes) Resolve(_ context.Context, id string) (pathlock.Location, error) {
	if _, err := strconv.ParseInt(id, 10, 64); err != nil {
		return pathlock.Location{}, fmt.Errorf("%w: %q is not a number", pathlock.ErrInvalidID, id)
	}
	n.mu.Lock()
	n.looks++
	path, ok := n.paths[id]
	after, looks := n.after, n.looks
	n.mu.Unlock()
	if after != nil {
		after(id, looks)
	}
	if !ok {
		return pathlock.Location{}, fmt.Errorf("%w: suite %s", pathlock.ErrNotFound, id)
	}
	if there, ok := strings.CutPrefix(path, "elsewhere"); ok {
		return pathlock.Location{Tree: elsewhere, Path: pathlock.MustParsePath(there)}, nil
	}
	return pathlock.Location{Tree: plan, Path: pathlock.MustParsePath(path)}, nil
}

// errKnown is an error that only the resolver knows.
var errKnown = errors.New("the driver speaks")

// FailureOf implements [pathlock.FailureExplainer].
func (n *nodes) FailureOf(err error) pathlock.Failure {
	if errors.Is(err, errKnown) {
		return pathlock.FailureDatabase
	}
	return ""
}

// move puts a node elsewhere, or removes it for the path "".
func (n *nodes) move(id, path string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if path == "" {
		delete(n.paths, id)
		return
	}
	n.paths[id] = path
}

// movesOnce is an after by which node 3 moves once it has been looked up for the first time.
func (n *nodes) movesOnce(_ string, looks int) {
	if looks == 1 {
		n.move("3", "/other/dir2")
	}
}

// fixture is an engine with one route of each kind.
type fixture struct {
	*testing.T
	engine  *gin.Engine
	locker  *pathlock.Locker
	locks   *middleware.Locks
	nodes   *nodes
	handler gin.HandlerFunc
	log     bytes.Buffer
	seen    observer
}

// newFixture returns a fixture. Its specs are changed by vary.
func newFixture(t *testing.T, store pathlock.Store, config middleware.Config, vary ...func(lockspec.Spec) lockspec.Spec) *fixture {
	t.Helper()
	f := &fixture{
		T:       t,
		engine:  gin.New(),
		nodes:   &nodes{paths: map[string]string{"1": "/", "2": "/dir1", "3": "/dir1/dir2", "4": "/other"}},
		handler: func(c *gin.Context) { c.Status(http.StatusNoContent) },
	}
	f.locker = pathlock.New(store, pathlock.WithWait(5*time.Second), pathlock.WithLogger(slog.New(slog.DiscardHandler)), pathlock.WithObserver(&f.seen))
	config.Log = slog.New(slog.NewTextHandler(&f.log, nil))
	config.Resolvers = map[string]pathlock.Resolver{"plan": pathlock.ResolverFunc(func(context.Context, string) (pathlock.Location, error) {
		return pathlock.Location{Tree: plan}, nil
	})}
	f.locks = middleware.New(f.locker, f.nodes, config)
	id := lockspec.Param("id")
	for route, spec := range map[string]lockspec.Spec{
		"PATCH /suites/:id":     lockspec.Rename(id, lockspec.JSON("name")),
		"DELETE /suites/:id":    lockspec.Delete(id),
		"POST /suites/:id/move": lockspec.Move(id, lockspec.JSON("target.parent_id")),
		"POST /form":            lockspec.Insert(lockspec.Form("parent"), lockspec.Form("name")),
		"POST /query":           lockspec.Insert(lockspec.Query("parent"), lockspec.Header("X-Name")),
		"PUT /plans/:plan":      lockspec.All(lockspec.Names("project", lockspec.Const("p")), lockspec.Gate(lockspec.Param("plan").Kind("plan"))),
		"POST /none":            lockspec.None("writes nothing"),
	} {
		for _, change := range vary {
			spec = change(spec)
		}
		method, path, _ := strings.Cut(route, " ")
		f.engine.Handle(method, path, f.locks.Lock(spec), func(c *gin.Context) { f.handler(c) })
	}
	return f
}

// send sends a request. A panic is the status 500.
func (f *fixture) send(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	f.Helper()
	return f.sendUnder(f.Context(), method, target, body, headers...)
}

func (f *fixture) sendUnder(ctx context.Context, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	f.Helper()
	r := httptest.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return f.serveRequest(r)
}

func (f *fixture) serveRequest(r *http.Request) (w *httptest.ResponseRecorder) {
	w = httptest.NewRecorder()
	defer func() {
		if p := recover(); p != nil {
			f.Log("panic:", p)
			w.Code = http.StatusInternalServerError
		}
	}()
	f.engine.ServeHTTP(w, r)
	return w
}

// problem reads the body of a failure.
func (f *fixture) problem(w *httptest.ResponseRecorder) middleware.Problem {
	f.Helper()
	var p middleware.Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Header().Get("Content-Type") != "application/problem+json" || p.Status != w.Code {
		f.Fatalf("answer %d, %v: %s", w.Code, err, w.Body)
	}
	return p
}

// is checks the status of an answer, and what the type of a problem ends in.
func (f *fixture) is(what string, w *httptest.ResponseRecorder, status int, kind string) {
	f.Helper()
	if w.Code != status {
		f.Errorf("%s: answer %d, want %d: %s", what, w.Code, status, w.Body)
	} else if kind != "" {
		if p := f.problem(w); p.Type != middleware.ProblemType+kind {
			f.Errorf("%s: type %q, want %q", what, p.Type, kind)
		}
	}
}

// mustNotServe is a handler that must not be called.
func (f *fixture) mustNotServe(*gin.Context) { f.Error("the handler was called") }

// holding is a handler that finds the given locks.
func (f *fixture) holding(want ...string) gin.HandlerFunc {
	return func(c *gin.Context) {
		if got := f.held(); !slices.Equal(got, want) {
			f.Errorf("held %v, want %v", got, want)
		}
		c.Status(http.StatusNoContent)
	}
}

// held is what is locked in the plan, without intentions.
func (f *fixture) held() []string {
	f.Helper()
	snapshot, err := f.locker.Snapshot(context.Background(), plan)
	testerr.None(f, err)
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

func claim(text string) []pathlock.Claim {
	return []pathlock.Claim{pathlock.X(pathlock.MustParsePath(text))}
}

// acquire locks a path of the plan as somebody else.
func (f *fixture) acquire(path string) *pathlock.Lock {
	f.Helper()
	lock, err := f.locker.Acquire(context.Background(), pathlock.Request{Tree: plan, Claims: claim(path), Note: "rename by anna"})
	testerr.Must(f, err)
	return lock
}

func (f *fixture) release(lock *pathlock.Lock) {
	f.Helper()
	testerr.None(f, lock.Release(context.Background()))
}

// tryUnder returns whether a path of the plan can be had at once under a context.
func (f *fixture) tryUnder(ctx context.Context, path string) error {
	lock, err := f.locker.Acquire(ctx, pathlock.Request{Tree: plan, Claims: claim(path), Wait: pathlock.NoWait})
	if err != nil {
		return err
	}
	return lock.Release(context.Background())
}

func (f *fixture) nothingLeft() {
	f.Helper()
	testerr.None(f, f.locker.Shutdown(context.Background()))
	if trees, err := f.locker.Trees(context.Background()); err != nil || len(trees) != 0 {
		f.Errorf("left behind: %v, %v", trees, err)
	}
}

// detached makes a hold that outlives its process.
func (f *fixture) detached(tree pathlock.Tree, path string) pathlock.Token {
	f.Helper()
	lock, err := f.locker.Acquire(f.Context(), pathlock.Request{Tree: tree, Claims: claim(path), Lease: time.Hour, Note: "anna edits"})
	testerr.Must(f, err)
	token, err := lock.Detach(f.Context())
	testerr.Must(f, err)
	return token
}

// end releases the hold of a token.
func (f *fixture) end(token pathlock.Token) {
	f.Helper()
	testerr.None(f, f.locker.ReleaseToken(context.Background(), token))
}

// observer writes down the steps of requests, a line at the end of each, and their answers.
type observer struct {
	pathlock.NopObserver
	mu       sync.Mutex
	steps    []string
	answered []pathlock.Failure
}

// stepKey is the context key of the step that a context belongs to.
type stepKey struct{}

// Step implements [pathlock.Observer].
func (o *observer) Step(ctx context.Context, s pathlock.Step) (context.Context, func(error)) {
	return context.WithValue(ctx, stepKey{}, s.Kind), func(err error) {
		if s.Kind != pathlock.StepRelease {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.steps = append(o.steps, fmt.Sprintf("%s %d: %v", s.Kind, s.Attempt, err))
		}
	}
}

// Answered implements [pathlock.Observer].
func (o *observer) Answered(_ context.Context, f pathlock.Failure) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answered = append(o.answered, f)
}

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	goleak.VerifyTestMain(m)
}
