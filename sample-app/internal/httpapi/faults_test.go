package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// A request for a held node learns who holds it and when to come back.
func TestLocked(t *testing.T) {
	for _, backend := range apitest.Backends(t) {
		t.Run(backend.Name, func(t *testing.T) {
			api := apitest.Start(t, instance.Config{DB: backend.DB, Locks: backend.Locks, Assert: true, Namespace: "locked-" + backend.Name})
			ids := fixture(t, api, "locked")
			tree, err := pathlock.NewTree("locked-"+backend.Name, strconv.FormatInt(ids["plan"], 10))
			if err != nil {
				t.Fatal(err)
			}
			other := pathlock.New(api.Store, pathlock.WithLease(time.Minute))
			lock, err := other.Acquire(t.Context(), pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/a/b"))}, Note: "a long export"})
			if err != nil {
				t.Fatal(err)
			}
			answer := api.Do(t, "PATCH", fmt.Sprintf("/api/suites/%d", ids["a"]), `{"name":"x"}`)
			var problem struct {
				Type, Path, Mode string
				Status           int
				Holder           struct {
					What         string
					Since, Until time.Time
				}
			}
			if err := json.Unmarshal(answer.Body, &problem); err != nil {
				t.Fatalf("%s: %v", answer.Body, err)
			}
			if answer.Status != http.StatusLocked || problem.Status != http.StatusLocked || !strings.HasSuffix(problem.Type, "locked") {
				t.Errorf("%d %s, want 423 locked", answer.Status, answer.Body)
			}
			if problem.Path != "/a" || problem.Mode != "X" || problem.Holder.What != "a long export" || !problem.Holder.Since.Before(problem.Holder.Until) {
				t.Errorf("%s: want path /a, mode X and the holder, since when and until when", answer.Body)
			}
			if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err != nil || seconds < 1 {
				t.Errorf("Retry-After: %q, want whole seconds", answer.Header.Get("Retry-After"))
			}
			// A rename of a sibling and an edit of a case elsewhere do not collide, and do not
			// wait.
			if answer := api.Do(t, "PATCH", fmt.Sprintf("/api/suites/%d", ids["d"]), `{"name":"y"}`); answer.Status != http.StatusOK {
				t.Errorf("a rename beside it: %d %s", answer.Status, answer.Body)
			}
			if err := lock.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			if answer := api.Do(t, "PATCH", fmt.Sprintf("/api/suites/%d", ids["a"]), `{"name":"x"}`); answer.Status != http.StatusOK {
				t.Errorf("after the release: %d %s", answer.Status, answer.Body)
			}
		})
	}
}

// Without its lock store, the backend serves reads and refuses writes.
func TestLockStoreUnavailable(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	if err := listener.Close(); err != nil { // nobody answers there now
		t.Fatal(err)
	}
	db := testdb.SQLite(t)
	healthy := apitest.Start(t, instance.Config{DB: db, Locks: "memory://", Assert: true})
	ids := fixture(t, healthy, "unavailable")
	api := apitest.Start(t, instance.Config{DB: db, Locks: "redis://" + addr + "/0?max_retries=-1&dial_timeout=1s", Assert: true})
	refused(t, api, ids, "lock-store-unavailable")
	step{request: "GET /api/suites/{a}", status: 200, want: `"name":"a","path":"/a","version":1`}.run(t, api, ids)
	step{request: "GET /healthz", status: 200}.run(t, api, ids)
	step{request: "GET /api/plans/{plan}/tree", status: 200}.run(t, api, ids)
}

// Without its database, the backend says so. It recovers when the database is back.
func TestDatabaseUnavailable(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		direct := testdb.MySQL(t, server)
		cfg, err := mysqldriver.ParseDSN(strings.TrimPrefix(direct, "mysql://"))
		if err != nil {
			t.Fatal(err)
		}
		if cfg.Net != "tcp" {
			t.Skipf("the server is reached through %s, where no proxy can stand between", cfg.Net)
		}
		proxy := newProxy(t, cfg.Addr)
		cfg.Addr = proxy.addr
		api := apitest.Start(t, instance.Config{DB: "mysql://" + cfg.FormatDSN(), Locks: "memory://", Assert: true})
		ids := fixture(t, api, "unavailable")
		proxy.cut()
		refused(t, api, ids, "database-unavailable")
		step{request: "GET /healthz", status: 200}.run(t, api, ids)
		step{request: "GET /api/suites/{a}", status: 503, problem: "database-unavailable"}.run(t, api, ids)
		proxy.mend(t)
		step{request: "GET /readyz", status: 200}.run(t, api, ids)
		step{request: "GET /api/suites/{a}", status: 200, want: `"name":"a","path":"/a","version":1`}.run(t, api, ids)
		step{request: `PATCH /api/suites/{a} {"name":"x"}`, status: 200}.run(t, api, ids)
	})
}

// refused checks that every change gets 503 with the reason, and that the instance is not ready.
func refused(t *testing.T, api *apitest.API, ids map[string]int64, problem string) {
	t.Helper()
	requests := []string{
		`POST /api/projects/new/plans {"name":"x"}`,
		`PATCH /api/plans/{plan} {"name":"x"}`,
		`DELETE /api/plans/{plan}`,
		`POST /api/plans/{plan}/suites {"parent_id":{root},"name":"x"}`,
		`PATCH /api/suites/{a} {"name":"x"}`,
		`POST /api/suites/{a}/move {"parent_id":{d}}`,
		`POST /api/suites/{a}/copy {"parent_id":{d},"name":"x"}`,
		`DELETE /api/suites/{a}`,
		`POST /api/suites/{a}/cases {"name":"x"}`,
		`PATCH /api/cases/{k} {"body":"x"}`,
		`DELETE /api/cases/{k}`,
		`GET /readyz`,
	}
	for _, request := range requests {
		s := step{request: request, status: 503, problem: problem}
		s.run(t, api, ids)
	}
	answer := api.Do(t, "PATCH", fmt.Sprintf("/api/suites/%d", ids["a"]), `{"name":"x"}`)
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err != nil || seconds < 1 {
		t.Errorf("Retry-After: %q, want whole seconds", answer.Header.Get("Retry-After"))
	}
	counted := fmt.Sprintf("\npathlock_problems_total{type=%q} %d\n", problem, len(requests)+1)
	if metrics := string(api.Do(t, "GET", "/metrics", "").Body); !strings.Contains(metrics, counted) {
		t.Errorf("the metrics lack %q", counted)
	}
}

// proxy stands between an instance and a server, and can be cut.
type proxy struct {
	addr, server string

	mu       sync.Mutex
	listener net.Listener
	open     map[net.Conn]bool
	running  sync.WaitGroup
}

func newProxy(t *testing.T, server string) *proxy {
	p := &proxy{addr: "127.0.0.1:0", server: server, open: map[net.Conn]bool{}}
	p.mend(t)
	t.Cleanup(func() {
		p.cut()
		p.running.Wait()
	})
	return p
}

// mend begins to accept connections.
func (p *proxy) mend(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	p.listener, p.addr = listener, listener.Addr().String()
	p.mu.Unlock()
	p.running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			p.running.Go(func() { p.pass(conn) })
		}
	})
}

// cut closes all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.listener.Close()
	for conn := range p.open {
		_ = conn.Close()
	}
}

// pass connects a client with the server until either disconnects.
func (p *proxy) pass(client net.Conn) {
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", p.server)
	if err != nil {
		_ = client.Close()
		return
	}
	p.mu.Lock()
	p.open[client], p.open[server] = true, true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.open, client)
		delete(p.open, server)
		p.mu.Unlock()
	}()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1])
			_ = way[0].Close()
			_ = way[1].Close()
		})
	}
	both.Wait()
}
