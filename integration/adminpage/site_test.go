package adminpage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
	"github.com/pathlock-go/pathlock/contention"
	"github.com/pathlock-go/pathlock/integration/internal/chromium"
	"github.com/pathlock-go/pathlock/internal/testserver"
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
	locks  *failing
	tree   pathlock.Tree
	log    *logbook

	server *http.Server
	served chan struct{}

	// refuse, if not nil, is what Authorize returns.
	refuse atomic.Pointer[error]
	// signIn has everything lead to a page for signing in, as a proxy does for nobody's requests.
	signIn atomic.Bool
}

// failing is a locker whose store the page cannot reach at times.
type failing struct {
	*pathlock.Locker
	down atomic.Bool
}

func (f *failing) fails() error {
	if f.down.Load() {
		return fmt.Errorf("reading the locks: %w", pathlock.ErrUnavailable)
	}
	return nil
}

func (f *failing) Snapshot(ctx context.Context, tree pathlock.Tree) (pathlock.Snapshot, error) {
	if err := f.fails(); err != nil {
		return pathlock.Snapshot{}, err
	}
	return f.Locker.Snapshot(ctx, tree)
}

func (f *failing) Trees(ctx context.Context) ([]pathlock.Tree, error) {
	if err := f.fails(); err != nil {
		return nil, err
	}
	return f.Locker.Trees(ctx)
}

func (f *failing) ForceRelease(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner) error {
	if err := f.fails(); err != nil {
		return err
	}
	return f.Locker.ForceRelease(ctx, tree, owner)
}

// logbook keeps what is logged.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logbook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// newSite serves the page on a store. change may change the configuration.
func newSite(t *testing.T, store pathlock.Store, change func(*admin.Config)) *site {
	t.Helper()
	s := &site{t: t, tree: newTree(t, "plan-001"), log: &logbook{}}
	recorder := contention.New(store, contention.Config{})
	t.Cleanup(recorder.Close)
	s.locker = pathlock.New(store, pathlock.WithObserver(recorder), pathlock.WithInstance("app-1:4711"), pathlock.WithWait(time.Minute))
	s.locks = &failing{Locker: s.locker}
	s.config = admin.Config{
		Authorize: func(*http.Request) error {
			if refused := s.refuse.Load(); refused != nil {
				return *refused
			}
			return nil
		},
		AuthorizeRelease: func(*http.Request) (string, error) { return "ann", nil },
		History:          recorder, Instance: "app-1:4711", Poll: 50 * time.Millisecond,
		Log: slog.New(slog.NewTextHandler(s.log, nil)),
	}
	if change != nil {
		change(&s.config)
	}
	s.start()
	t.Cleanup(s.stop)
	return s
}

func newTree(t *testing.T, id string) pathlock.Tree {
	t.Helper()
	tree, err := pathlock.NewTree("testplan", id)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// start serves, on the old address after a stop.
func (s *site) start() {
	s.t.Helper()
	page, err := admin.New(s.locks, s.config)
	if err != nil {
		s.t.Fatal(err)
	}
	engine := gin.New()
	engine.Any("/admin/locks/*any", gin.WrapH(page))
	addr := s.addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	listener, err := (&net.ListenConfig{}).Listen(s.t.Context(), "tcp", addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.addr = listener.Addr().String()
	s.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.signIn.Load() {
			http.Redirect(w, r, "/sign-in", http.StatusFound)
			return
		}
		engine.ServeHTTP(w, r)
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
	gate   bool
	claims []pathlock.Claim
}

func x(path string) pathlock.Claim  { return pathlock.X(pathlock.MustParsePath(path)) }
func sh(path string) pathlock.Claim { return pathlock.S(pathlock.MustParsePath(path)) }

// from is where a request of a route comes from.
func from(operation, route string) pathlock.Origin {
	return pathlock.Origin{Operation: operation, Route: route, RequestID: "req-" + operation}
}

// hold takes locks, which the test may release earlier than at its end.
func (s *site) hold(r request) *pathlock.Lock {
	s.t.Helper()
	lock, err := s.acquire(s.t.Context(), r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = lock.Release(context.WithoutCancel(s.t.Context())) })
	return lock
}

func (s *site) acquire(ctx context.Context, r request) (*pathlock.Lock, error) {
	return s.locker.Acquire(pathlock.WithOrigin(ctx, r.origin), pathlock.Request{Tree: s.tree, Gate: r.gate, Claims: r.claims, Note: r.note})
}

// release gives a lock back.
func (s *site) release(lock *pathlock.Lock) {
	s.t.Helper()
	if err := lock.Release(s.t.Context()); err != nil {
		s.t.Error(err)
	}
}

// outcome is what became of a request that waited.
type outcome struct {
	lock *pathlock.Lock
	err  error
}

// wait asks for locks in the background, and returns when the request is queued. The end of the
// test ends the wait.
func (s *site) wait(r request) <-chan outcome {
	s.t.Helper()
	before := len(s.snapshot().Waiters)
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	over, result := make(chan struct{}), make(chan outcome, 1)
	go func() {
		defer close(over)
		lock, err := s.acquire(ctx, r)
		result <- outcome{lock, err}
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
	if err != nil {
		s.t.Fatal(err)
	}
	return snapshot
}

// refuses makes Authorize refuse from here on.
func (s *site) refuses(err error) { s.refuse.Store(&err) }

var errNobody = errors.New("nobody may look")
