package adminpage

import (
	"errors"
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
	"github.com/pathlock-go/pathlock/store/memstore"
)

var browser chromium.Browser

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	goleak.VerifyTestMain(browser.Main(m))
}

// site is a gin server with the admin page, a locker on the same store, and who has locks there.
type site struct {
	t      testing.TB
	addr   string
	config admin.Config
	locker *pathlock.Locker
	tree   pathlock.Tree
	people map[string]*person
	tabs   map[string]*window

	server    *http.Server
	served    chan struct{}
	described *described

	// instead, if not 0, is the status that the API answers with.
	instead atomic.Int32
}

// begin serves the page on locks in memory.
func (s *site) begin(restricted string) {
	store := memstore.New()
	recorder := contention.New(store, contention.Config{})
	s.t.Cleanup(recorder.Close)
	s.locker = pathlock.New(store, pathlock.WithObserver(recorder), pathlock.WithInstance("app-1:4711"), pathlock.WithWait(time.Minute))
	s.config = admin.Config{
		Authorize: func(r *http.Request) error {
			if r.Header.Get("X-User") == "nobody" {
				return admin.ErrUnauthorized
			}
			return nil
		},
		AuthorizeRelease: func(*http.Request) (string, error) { return "ann", nil },
		History:          recorder, Instance: "app-1:4711", Poll: 50 * time.Millisecond,
		Log: slog.New(slog.NewTextHandler(s.t.Output(), nil)),
	}
	switch restricted {
	case "read-only":
		s.config.AuthorizeRelease = func(*http.Request) (string, error) { return "", errors.New("operators only") }
		s.config.History = nil
	case "few-trees":
		s.config.MaxTrees = 1
	}
	s.start()
	s.t.Cleanup(s.stop)
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
