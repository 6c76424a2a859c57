package adminpage

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
	"github.com/pathlock-go/pathlock/contention"
	"github.com/pathlock-go/pathlock/integration/internal/chromium"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/store/memstore"
)

var browser chromium.Browser

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	goleak.VerifyTestMain(browser.Main(m))
}

// site is a gin server with the admin page, and a locker on the same store.
type site struct {
	t      *testing.T
	addr   string
	config admin.Config
	locker *pathlock.Locker
	tree   pathlock.Tree

	server *http.Server
	served chan struct{}

	// instead, if not 0, is the status that the API answers with.
	instead atomic.Int32
}

// newSite serves the page on locks in memory. change may change the configuration.
func newSite(t *testing.T, change func(*admin.Config)) *site {
	t.Helper()
	s := &site{t: t, tree: newTree(t, "testplan", "plan-001")}
	store := memstore.New()
	recorder := contention.New(store, contention.Config{})
	t.Cleanup(recorder.Close)
	s.locker = pathlock.New(store, pathlock.WithObserver(recorder), pathlock.WithInstance("app-1:4711"), pathlock.WithWait(time.Minute))
	s.config = admin.Config{
		Authorize:        func(*http.Request) error { return nil },
		AuthorizeRelease: func(*http.Request) (string, error) { return "ann", nil },
		History:          recorder, Instance: "app-1:4711", Poll: 50 * time.Millisecond,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	if change != nil {
		change(&s.config)
	}
	s.start()
	t.Cleanup(s.stop)
	return s
}

func newTree(t *testing.T, namespace, id string) pathlock.Tree {
	t.Helper()
	tree, err := pathlock.NewTree(namespace, id)
	testerr.Must(t, err)
	return tree
}

// problems are the bodies of failures.
var problems = map[int]string{
	http.StatusUnauthorized:       `{"type":"urn:pathlock:problem:unauthenticated"}`,
	http.StatusForbidden:          `{"type":"urn:pathlock:problem:forbidden"}`,
	http.StatusServiceUnavailable: `{"type":"urn:pathlock:problem:lock-store-unavailable"}`,
}

// start serves, on the old address after a stop.
func (s *site) start() {
	s.t.Helper()
	page, err := admin.New(s.locker, s.config)
	testerr.Must(s.t, err)
	engine := gin.New()
	engine.Any("/admin/locks/*any", gin.WrapH(page))
	addr := s.addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	listener, err := (&net.ListenConfig{}).Listen(s.t.Context(), "tcp", addr)
	testerr.Must(s.t, err)
	s.addr = listener.Addr().String()
	s.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := int(s.instead.Load())
		switch {
		case status == 0 || !strings.Contains(r.URL.Path, "/api/"):
			engine.ServeHTTP(w, r)
		case status == http.StatusFound: // a proxy answers so where nobody has signed in
			http.Redirect(w, r, "/sign-in", status)
		default:
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(problems[status]))
		}
	})}
	s.served = make(chan struct{})
	go func() {
		defer close(s.served)
		_ = s.server.Serve(listener)
	}()
}

// stop ends the server and all its connections.
func (s *site) stop() {
	_ = s.server.Close()
	<-s.served
}

// url is the page's address, with a tree chosen unless that is zero.
func (s *site) url(tree pathlock.Tree) string {
	address := "http://" + s.addr + "/admin/locks/"
	if !tree.IsZero() {
		address += "#" + url.Values{"namespace": {tree.Namespace()}, "id": {tree.ID()}}.Encode()
	}
	return address
}

// open opens the site's tree in the browser, and waits for what the server says.
func (s *site) open() *chromium.Tab {
	s.t.Helper()
	tab := browser.Open(s.t, s.url(s.tree))
	tab.AwaitText("#link", "Live")
	return tab
}

// request is a request for locks in the site's tree, by somebody.
type request struct {
	note   string
	origin pathlock.Origin
	claims []pathlock.Claim
}

func x(path string) []pathlock.Claim {
	return []pathlock.Claim{pathlock.X(pathlock.MustParsePath(path))}
}

// from is where a request of a route comes from.
func from(operation, route string) pathlock.Origin {
	return pathlock.Origin{Operation: operation, Route: route, RequestID: "req-" + operation}
}

// hold takes locks, which the test may release earlier than at its end.
func (s *site) hold(r request) *pathlock.Lock {
	s.t.Helper()
	lock, err := s.acquire(s.t.Context(), r)
	testerr.Must(s.t, err)
	s.t.Cleanup(func() { _ = lock.Release(context.WithoutCancel(s.t.Context())) })
	return lock
}

func (s *site) acquire(ctx context.Context, r request) (*pathlock.Lock, error) {
	return s.locker.Acquire(pathlock.WithOrigin(ctx, r.origin), pathlock.Request{Tree: s.tree, Claims: r.claims, Note: r.note})
}

// release gives a lock back.
func (s *site) release(lock *pathlock.Lock) {
	s.t.Helper()
	testerr.None(s.t, lock.Release(s.t.Context()))
}

// wait asks for locks in the background, and returns when the request is queued. The channel gets
// what becomes of it. The end of the test ends the wait.
func (s *site) wait(r request) <-chan error {
	s.t.Helper()
	before := len(s.snapshot().Waiters)
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	over, result := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(over)
		lock, err := s.acquire(ctx, r)
		result <- err
		if err == nil {
			<-ctx.Done()
			_ = lock.Release(context.WithoutCancel(ctx))
		}
	}()
	s.t.Cleanup(func() { cancel(); <-over })
	testserver.Await(s.t, "the request is queued", func() bool { return len(s.snapshot().Waiters) > before })
	return result
}

func (s *site) snapshot() pathlock.Snapshot {
	s.t.Helper()
	snapshot, err := s.locker.Snapshot(s.t.Context(), s.tree)
	testerr.Must(s.t, err)
	return snapshot
}
