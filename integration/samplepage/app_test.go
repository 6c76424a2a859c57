package samplepage

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/integration/internal/chromium"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

var (
	browser chromium.Browser
	program builder
)

func TestMain(m *testing.M) {
	code := browser.Main(m)
	goleak.VerifyTestMain(cleaned{code})
}

// cleaned removes the program after the tests.
type cleaned struct{ tests interface{ Run() int } }

// Run implements what goleak asks for.
func (c cleaned) Run() int {
	code := c.tests.Run()
	program.remove()
	http.DefaultClient.CloseIdleConnections()
	return code
}

// builder builds the app once for all tests.
type builder struct {
	once   sync.Once
	folder string
	err    error
}

func (b *builder) path(t *testing.T) string {
	t.Helper()
	b.once.Do(func() {
		if b.folder, b.err = os.MkdirTemp("", "samplepage"); b.err != nil {
			return
		}
		build := exec.CommandContext(context.Background(), "go", "build", "-o", filepath.Join(b.folder, "app"), ".")
		build.Dir = filepath.Join("..", "..", "sample-app")
		if out, err := build.CombinedOutput(); err != nil {
			b.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if b.err != nil {
		t.Fatal(b.err)
	}
	return filepath.Join(b.folder, "app")
}

func (b *builder) remove() {
	if b.folder != "" {
		_ = os.RemoveAll(b.folder)
	}
}

// app is an instance of the app.
type app struct {
	*testing.T
	url  string
	stop func()
}

// start starts an instance, which ends with the test: at a signal, at once, and with 0. Its windows
// are still open then.
func start(t *testing.T, args ...string) *app {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program.path(t), append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	cmd.Dir = t.TempDir()
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatalf("the app says nothing: %v", cmd.Wait())
	}
	_, address, ok := strings.Cut(lines.Text(), "http://")
	if !ok {
		t.Fatalf("the app says %q first", lines.Text())
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, out)
	}()
	a := &app{T: t, url: "http://" + address}
	a.stop = sync.OnceFunc(func() {
		asked := time.Now()
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		<-read
		if err := cmd.Wait(); err != nil {
			t.Errorf("the app ends with %v", err)
		}
		// The requests of a window end with the stop, and do not last until a minute is over.
		if took := time.Since(asked); took > 20*time.Second {
			t.Errorf("the app needed %v to stop", took)
		}
	})
	t.Cleanup(a.stop)
	return a
}

// alone starts one instance with an SQLite file and locks in memory.
func alone(t *testing.T, args ...string) *app { t.Helper(); return start(t, args...) }

// ask sends a request, as a program does that is no browser.
func ask[T any](a *app, method, path string, body any) T {
	a.Helper()
	var got T
	status, text := a.try(method, path, body, "")
	if status >= 300 {
		a.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &got); err != nil {
			a.Fatal(err)
		}
	}
	return got
}

// try sends a request with a lock's token, and returns the answer.
func (a *app) try(method, path string, body any, token string) (status int, answer []byte) {
	a.Helper()
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			a.Fatal(err)
		}
		reader = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(context.WithoutCancel(a.Context()), method, a.url+path, reader)
	if err != nil {
		a.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Lock-Token", token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		a.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		a.Fatal(err)
	}
	return response.StatusCode, text
}

// object is a JSON object.
type object map[string]any

type (
	plan struct {
		ID     int64 `json:"id"`
		RootID int64 `json:"root_id"`
	}
	suite struct {
		ID   int64  `json:"id"`
		Path string `json:"path"`
	}
)

// planOf creates a plan with suites, given by their paths, and returns their ids by path.
func (a *app) planOf(paths ...string) (p plan, ids map[string]int64) {
	a.Helper()
	p = ask[plan](a, "POST", "/api/projects/demo/plans", object{"name": "plan " + rand.Text()[:6]})
	for start := 0; start < len(paths); start += 1000 {
		some := paths[start:min(len(paths), start+1000)]
		ask[object](a, "POST", fmt.Sprintf("/api/plans/%d/import", p.ID), object{"suites": some})
	}
	return p, a.ids(p)
}

// ids returns the ids of a plan's suites by path, such as "a/b".
func (a *app) ids(p plan) map[string]int64 {
	a.Helper()
	tree := ask[struct{ Suites []suite }](a, "GET", fmt.Sprintf("/api/plans/%d/tree", p.ID), nil)
	ids := map[string]int64{}
	for _, s := range tree.Suites {
		ids[strings.TrimPrefix(s.Path, "/")] = s.ID
	}
	return ids
}

// sound requires that the tree of a plan is right.
func (a *app) sound(p plan) {
	a.Helper()
	if report := ask[struct{ Problems []any }](a, "GET", fmt.Sprintf("/api/plans/%d/fsck", p.ID), nil); len(report.Problems) > 0 {
		a.Errorf("the tree has %v", report.Problems)
	}
}

// address is where a window shows a plan.
func (a *app) address(p plan) string { return fmt.Sprintf("%s/#plan/%d", a.url, p.ID) }

// two starts two instances on one database and one lock store, for each database server.
func two(t *testing.T, test func(t *testing.T, here, there *app)) {
	t.Helper()
	run := func(name string, database func(t *testing.T) string) {
		t.Run(name, func(t *testing.T) {
			db, locks := database(t), testserver.Redis(t)
			args := []string{"--db", db, "--locks", locks, "--namespace", "page-" + strings.ToLower(rand.Text()[:10])}
			test(t, start(t, args...), start(t, args...))
		})
	}
	for _, server := range testserver.MySQLServers(t) {
		run(server.Product, func(t *testing.T) string {
			name := scratch(t, "mysql", server.DSN)
			slash := strings.LastIndexByte(server.DSN, '/')
			return "mysql://" + server.DSN[:slash+1] + name + server.DSN[slash+1:]
		})
	}
	run("PostgreSQL", func(t *testing.T) string {
		server := testserver.Postgres(t)
		name := scratch(t, "pgx", server)
		slash := strings.LastIndexByte(server, '/')
		query := ""
		if at := strings.IndexByte(server[slash:], '?'); at >= 0 {
			query = server[slash+at:]
		}
		return server[:slash+1] + name + query
	})
}

// scratch creates a database for a test, and returns its name.
func scratch(t *testing.T, driver, server string) string {
	t.Helper()
	admin, err := sql.Open(driver, server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close() })
	name := "pathlock_page_" + strings.ToLower(rand.Text()[:10])
	if _, err := admin.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.ExecContext(context.Background(), "DROP DATABASE "+name); err != nil {
			t.Error(err)
		}
	})
	return name
}
