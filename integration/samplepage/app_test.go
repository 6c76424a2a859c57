package samplepage

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/integration/internal/chromium"
	"github.com/pathlock-go/pathlock/integration/internal/program"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

var browser chromium.Browser

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(browser.Main(m, program.Remove, http.DefaultClient.CloseIdleConnections))
}

// app is an instance of the app.
type app struct {
	*testing.T
	url string
}

// alone starts one instance, with an SQLite file and locks in memory unless the flags say
// otherwise. It ends with the test, while its windows are still open.
func alone(t *testing.T, args ...string) *app {
	t.Helper()
	return &app{t, "http://" + program.Serve(t, program.Build(t, "sample-app"), args...)}
}

// ask sends a request, as a program does that is no browser.
func ask[T any](a *app, method, path string, body any) T {
	a.Helper()
	var got T
	status, text := a.try(method, path, body, "")
	if status >= 300 {
		a.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	if len(text) > 0 {
		testerr.Must(a, json.Unmarshal(text, &got))
	}
	return got
}

// try sends a request with a lock's token, and returns the answer.
func (a *app) try(method, path string, body any, token string) (status int, answer []byte) {
	a.Helper()
	text, err := json.Marshal(body)
	testerr.Must(a, err)
	if body == nil {
		text = nil
	}
	request, err := http.NewRequestWithContext(context.WithoutCancel(a.Context()), method, a.url+path, bytes.NewReader(text))
	testerr.Must(a, err)
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Lock-Token", token)
	}
	response, err := http.DefaultClient.Do(request)
	testerr.Must(a, err)
	defer func() { _ = response.Body.Close() }()
	if answer, err = io.ReadAll(response.Body); err != nil {
		a.Fatal(err)
	}
	return response.StatusCode, answer
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

// in is the app for a subtest.
func (a *app) in(t *testing.T) *app { return &app{t, a.url} }

// two starts two instances on a database server and Redis.
func two(t *testing.T) (here, there *app) {
	t.Helper()
	servers, locks := testserver.MySQLServers(t), testserver.Redis(t)
	if len(servers) == 0 {
		testserver.Missing(t, "this test needs a MariaDB or MySQL")
	}
	db := servers[0].Scratch(t)
	args := []string{"--db", "mysql://" + db, "--locks", locks, "--namespace", "page" + strings.ToLower(rand.Text()[:10])}
	return alone(t, args...), alone(t, args...)
}
