package httpapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// asked is a request with its headers and its refusal, which is "" if it is not refused.
type asked struct {
	request string
	headers string // "Name: value" in lines
	status  int
	problem string
}

func (a asked) run(t *testing.T, api *apitest.API, ids map[string]int64) {
	t.Helper()
	method, rest, _ := strings.Cut(expand(a.request, "p", ids), " ")
	path, body, _ := strings.Cut(rest, " ")
	req, err := http.NewRequestWithContext(t.Context(), method, api.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(a.headers) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if name == "Host" {
			req.Host = value
		}
		req.Header.Add(name, strings.ReplaceAll(value, "{host}", req.URL.Host))
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != a.status {
		t.Errorf("%s with %q: %d %s, want %d", a.request, a.headers, resp.StatusCode, text, a.status)
	}
	if a.problem == "" {
		return
	}
	var problem struct{ Type string }
	if err := json.Unmarshal(text, &problem); err != nil || problem.Type != "urn:pathlock:problem:"+a.problem {
		t.Errorf("%s with %q: %s, want the problem %s", a.request, a.headers, text, a.problem)
	}
	if got := resp.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("%s with %q: Content-Type %q", a.request, a.headers, got)
	}
}

// A page of another origin can read what every program can, but cannot write.
func TestWritesOfForeignOriginsAreRefused(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	ids := fixture(t, api, "p")
	writes := []string{
		`POST /api/projects/p/plans {"name":"foreign"}`, `PATCH /api/suites/{a} {"name":"foreign"}`, `PUT /api/suites/{a} {}`,
		`DELETE /api/suites/{a}`, `DELETE /api/plans/{other}/recycle-bin`, `POST /api/recycle-bin/1/restore`,
	}
	for _, headers := range []string{
		"Origin: http://evil.example", "Origin: null", "Origin: http://127.0.0.1:1", "Sec-Fetch-Site: cross-site",
		"Sec-Fetch-Site: same-site", "Origin: http://{host}\nSec-Fetch-Site: cross-site", "Origin: http://{host}.evil.example",
	} {
		for _, request := range writes {
			asked{request, headers, http.StatusForbidden, "foreign-origin"}.run(t, api, ids)
		}
		asked{"GET /api/suites/{a}", headers, http.StatusOK, ""}.run(t, api, ids)
	}
	for _, headers := range []string{"", "Origin: http://{host}", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none"} {
		asked{`PATCH /api/suites/{a} {"name":"own"}`, headers, http.StatusOK, ""}.run(t, api, ids)
	}
}

// A page of another origin cannot have plans checked: it would learn nothing, and the work would be
// done.
func TestWorkForForeignReadersIsRefused(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	ids := fixture(t, api, "p")
	for _, method := range []string{"GET", "HEAD"} {
		problem := "foreign-origin"
		if method == "HEAD" {
			problem = ""
		}
		for _, headers := range []string{"Origin: http://evil.example", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site"} {
			asked{method + " /api/plans/{plan}/fsck", headers, http.StatusForbidden, problem}.run(t, api, ids)
		}
	}
	for _, headers := range []string{"", "Origin: http://{host}", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none"} {
		asked{"GET /api/plans/{plan}/fsck", headers, http.StatusOK, ""}.run(t, api, ids)
	}
}

// A check of a plan takes no lock: it reads one snapshot. So it does not wait for whoever holds the
// whole plan, and nobody waits for it.
func TestACheckTakesNoLocks(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true, Namespace: "check"})
	ids := fixture(t, api, "p")
	tree, err := pathlock.NewTree("check", fmt.Sprint(ids["plan"]))
	if err != nil {
		t.Fatal(err)
	}
	holder := pathlock.New(api.Store)
	lock, err := holder.Acquire(t.Context(), pathlock.Request{Tree: tree, Gate: true})
	if err != nil {
		t.Fatal(err)
	}
	asked{"GET /api/plans/{plan}/fsck", "", http.StatusOK, ""}.run(t, api, ids)
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// HEAD is wherever GET is, and answers with the same status and type, and no body.
func TestHeadIsWhereverGetIs(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	ids := fixture(t, api, "p")
	known := strings.NewReplacer(":project", "p", ":plan", fmt.Sprint(ids["plan"]), ":id", fmt.Sprint(ids["a"]), ":file", "main.js")
	index := apitest.Made[struct {
		Routes []struct{ Method, Path string }
	}](t, api, "GET", "/routes", "", "Accept", "application/json")
	for _, r := range index.Routes {
		path := known.Replace(r.Path)
		if r.Method == http.MethodHead {
			t.Errorf("the index lists HEAD %s", r.Path)
		}
		if r.Method != http.MethodGet {
			continue
		}
		get, head := api.Do(t, "GET", path, ""), api.Do(t, "HEAD", path, "")
		if head.Status != get.Status || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") || len(head.Body) > 0 {
			t.Errorf("HEAD %s: %d %v, GET: %d", path, head.Status, head.Header, get.Status)
		}
	}
}

// A page that has its own name resolved to this server's address neither reads nor writes here, and
// a proxy's name is listed.
func TestForeignNamesAreRefused(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	ids := fixture(t, api, "p")
	requests := []string{"GET /api/suites/{a}", "GET /", "GET /page/main.js", "GET /metrics", "GET /admin/locks/", "GET /no/such/route",
		`PATCH /api/suites/{a} {"name":"foreign"}`, `POST /api/suites/{a}/lock {"for":"1m"}`}
	for _, host := range []string{"evil.example", "127.0.0.1.evil.example"} {
		for _, request := range requests {
			asked{request, "Host: " + host + "\nOrigin: http://" + host + "\nSec-Fetch-Site: same-origin", http.StatusMisdirectedRequest, "misdirected"}.run(t, api, ids)
		}
	}
	for _, host := range []string{"localhost:1", "app.localhost", "[::1]:8080", "127.0.0.1"} {
		asked{"GET /api/suites/{a}", "Host: " + host, http.StatusOK, ""}.run(t, api, ids)
	}
	api = apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true, Hosts: []string{"plans.example", "127.0.0.1"}})
	ids = fixture(t, api, "p")
	for _, request := range []string{"GET /api/suites/{a}", "GET /admin/locks/"} {
		asked{request, "Host: plans.example:443", http.StatusOK, ""}.run(t, api, ids)
		asked{request, "Host: localhost", http.StatusMisdirectedRequest, "misdirected"}.run(t, api, ids)
	}
}

// Browsers take answers for what they say they are, and keep none: some have the tokens of locks.
func TestAnswersAreNeitherGuessedNorKept(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	ids := fixture(t, api, "p")
	for request, status := range map[string]int{
		`POST /api/suites/{a}/lock {"for":"1m"}`: 201, "GET /api/suites/{a}": 200, "GET /api/suites/0": 400, "GET /none": 404, "GET /metrics": 200, "GET /routes": 200,
	} {
		method, rest, _ := strings.Cut(request, " ")
		path, body, _ := strings.Cut(expand(rest, "p", ids), " ")
		answer := api.Do(t, method, path, body)
		if answer.Status != status || answer.Header.Get("X-Content-Type-Options") != "nosniff" || answer.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v", request, answer.Status, answer.Header)
		}
	}
}

// A body is uncompressed JSON in UTF-8. A body without a type counts as JSON.
func TestOtherBodiesThanJSONAreRefused(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	ids := fixture(t, api, "p")
	for _, headers := range []string{
		"Content-Type: text/plain", "Content-Type: application/x-www-form-urlencoded", "Content-Type: multipart/form-data; boundary=x",
		"Content-Type: application/jsonp", "Content-Type: application/json; charset=utf-16", "Content-Type: ;",
		"Content-Type: application/json\nContent-Type: text/plain", "Content-Type: application/json\nContent-Encoding: gzip",
	} {
		for _, request := range []string{
			`POST /api/projects/p/plans {"name":"x"}`, `PATCH /api/suites/{a} {"name":"x"}`, `DELETE /api/suites/{a} {"name":"x"}`,
		} {
			asked{request, headers, http.StatusUnsupportedMediaType, "unsupported-media-type"}.run(t, api, ids)
		}
		asked{"POST /no/such/route x", headers, http.StatusNotFound, "not-found"}.run(t, api, ids)
	}
	for _, headers := range []string{
		"", "Content-Type: application/json", "Content-Type: Application/JSON; Charset=UTF-8", "Content-Encoding: identity",
	} {
		asked{`PATCH /api/suites/{a} {"name":"json"}`, headers, http.StatusOK, ""}.run(t, api, ids)
	}
	// A missing body has no type.
	asked{"DELETE /api/suites/{a}", "Content-Type: text/plain", http.StatusNoContent, ""}.run(t, api, ids)
}
