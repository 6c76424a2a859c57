package httpapi_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/httpapi"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// A client gets the answer to a body that nobody needs, whether it sends all of it before it reads,
// or asks before it sends.
func TestAnswers_ReachWhoeverSendsFirst(t *testing.T) {
	large := strings.Repeat(" ", 32<<20)
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	for _, tt := range []struct {
		path, header, body string
		want               int
	}{
		{"/api/plans/1/suites", "", large, http.StatusRequestEntityTooLarge},
		{"/no/such/route", "", large, http.StatusNotFound},
		{"/no/such/route", "Expect: 100-continue\r\n", "", http.StatusNotFound},
	} {
		connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(api.URL, "http://"))
		testerr.Must(t, err)
		defer func() { _ = connection.Close() }()
		_, err = fmt.Fprintf(connection, "POST %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n%s", tt.path, tt.header, len(large), tt.body)
		testerr.Must(t, err)
		answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
		testerr.Must(t, err)
		testerr.Must(t, answer.Body.Close())
		if answer.StatusCode != tt.want || !answer.Close {
			t.Errorf("%s: %d, closes: %v", tt.path, answer.StatusCode, answer.Close)
		}
	}
}

// What a browser asks for.
const asBrowser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"

// A browser gets the page, whose policy allows nothing inline and no other host, and everything
// that the page names.
func TestPage_isSentToBrowsers(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	page := api.Do(t, "GET", "/", "", "Accept", asBrowser)
	policy := page.Header.Get("Content-Security-Policy")
	if page.Status != http.StatusOK || page.Header.Get("Content-Type") != "text/html; charset=utf-8" || !slices.Contains(page.Header.Values("Vary"), "Accept") {
		t.Fatalf("the page: %d %v", page.Status, page.Header)
	}
	if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
		t.Errorf("the policy is %q", policy)
	}
	named := regexp.MustCompile(`(?:src|href)="([^"#]+)"`).FindAllSubmatch(page.Body, -1)
	if len(named) < 5 {
		t.Errorf("the page names %d files", len(named))
	}
	for _, match := range named {
		file := api.Do(t, "GET", "/"+string(match[1]), "")
		if file.Status != http.StatusOK {
			t.Errorf("%s: %d", match[1], file.Status)
		}
		if strings.HasPrefix(string(match[1]), "page/") {
			isKept(t, api, "/"+string(match[1]))
		}
	}
}

// isKept checks that a browser keeps an answer, and gets it again when it has changed.
func isKept(t *testing.T, api *apitest.API, path string) {
	t.Helper()
	for _, encoding := range []string{"gzip", "identity"} { // whichever the browser got, and gets now
		first := api.Do(t, "GET", path, "", "Accept-Encoding", encoding)
		again := api.Do(t, "GET", path, "", "If-None-Match", first.Header.Get("ETag"), "Accept-Encoding", "gzip")
		if again.Status != http.StatusNotModified || len(again.Body) > 0 || again.Header.Get("Cache-Control") != "private, no-cache" {
			t.Errorf("%s, %s: %d with %d bytes, %v", path, encoding, again.Status, len(again.Body), again.Header)
		}
	}
	whole := api.Do(t, "GET", path, "")
	for _, asked := range [][]string{{"If-None-Match", `W/"x"`}, {"If-Match", `"x"`}, {"Range", "bytes=0-1"}, {"Range", "bytes=9000000-"}} {
		other := api.Do(t, "GET", path, "", asked...)
		if other.Status != http.StatusOK || !bytes.Equal(other.Body, whole.Body) || other.Header.Get("Content-Type") != whole.Header.Get("Content-Type") {
			t.Errorf("%s with %v: %d with %d bytes, %v", path, asked, other.Status, len(other.Body), other.Header)
		}
	}
}

// A window asks for a suite's cases once a second, and gets their texts when they have changed.
func TestCases_AreSentWhereTheyHaveChanged(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	ids := fixture(t, api, "kept")
	cases := fmt.Sprintf("/api/suites/%d/cases", ids["b"])
	isKept(t, api, cases)
	tag := api.Do(t, "GET", cases, "").Header.Get("ETag")
	is(t, api, ids, `PATCH /api/cases/{k} {"body":"other steps"}`, http.StatusOK, "")
	if got := api.Do(t, "GET", cases, "", "If-None-Match", tag); got.Status != http.StatusOK || !strings.Contains(string(got.Body), "other steps") {
		t.Errorf("changed cases: %d %s", got.Status, got.Body)
	}
}

// A tree of many suites is sent compressed to those who say that they can read it.
func TestAnswers_LargeOnesAreCompressed(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	ids := fixture(t, api, "large")
	var names []string
	for i := range 300 {
		names = append(names, fmt.Sprintf(`"area/part %03d"`, i))
	}
	api.Do(t, "POST", fmt.Sprintf("/api/plans/%d/import", ids["plan"]), `{"suites":[`+strings.Join(names, ",")+`]}`)
	tree := fmt.Sprintf("/api/plans/%d/tree", ids["plan"])
	plain := api.Do(t, "GET", tree, "", "Accept-Encoding", "identity")
	small := api.Do(t, "GET", tree, "", "Accept-Encoding", "gzip")
	unpacked, err := gzip.NewReader(bytes.NewReader(small.Body))
	if err != nil {
		t.Fatalf("%v: %v", err, small.Header)
	}
	whole, err := io.ReadAll(unpacked)
	if err != nil || !bytes.Equal(whole, plain.Body) || len(plain.Body) < 10*len(small.Body) {
		t.Errorf("%d bytes are sent as %d and read as %d, %v", len(plain.Body), len(small.Body), len(whole), err)
	}
	for _, path := range []string{"/healthz", "/api/suites/0"} {
		if answer := api.Do(t, "GET", path, "", "Accept-Encoding", "gzip"); answer.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: %v", path, answer.Header)
		}
	}
}

// Each claim has its suite, however that is spelt. Of a plan with a thousand others, only a few
// rows are read.
func TestPlanLocks_FindsSuitesWithoutReadingThePlan(t *testing.T) {
	for _, backend := range apitest.Backends(t) {
		t.Run(backend.Name, func(t *testing.T) {
			api := apitest.Start(t, instance.Config{DB: backend.DB, Locks: backend.Locks, Assert: true})
			ids := fixture(t, api, "locks")
			var many []string
			for i := range 1000 {
				many = append(many, fmt.Sprintf(`"d/Part %d"`, i))
			}
			is(t, api, ids, `POST /api/plans/{plan}/import {"suites":[`+strings.Join(many, ",")+`]}`, http.StatusOK, "")
			made := func(request string) (got struct {
				ID    int64
				Token string
			}) {
				t.Helper()
				testerr.Must(t, json.Unmarshal(is(t, api, ids, request, http.StatusCreated, "").Body, &got))
				return got
			}
			token, want := "", []string(nil)
			for _, s := range []struct{ name, parent string }{
				{"Login Tests", "a"}, {"Ärger & STRASSE", "a"}, {"ﬁsh", "a"}, {"测试", "a"}, {"Below", "Login Tests"}, {"Part X", "d"}, {"deep", "Part X"},
			} {
				ids[s.name] = made(fmt.Sprintf(`POST /api/plans/{plan}/suites {"parent_id":{%s},"name":%q}`, s.parent, s.name)).ID
				if s.name != "Login Tests" && s.name != "Part X" {
					token = made(fmt.Sprintf(`POST /api/suites/%d/lock {"for":"10m","note":%q}`, ids[s.name], s.name)).Token
					want = append(want, fmt.Sprintf("%s: %d true", s.name, ids[s.name]))
				}
			}
			// The lock keeps the old name as well, which is in the suite above.
			api.Do(t, "PATCH", fmt.Sprintf("/api/suites/%d", ids["deep"]), `{"name":"New"}`, "Lock-Token", token)
			want = append(want, fmt.Sprintf("deep: %d false", ids["Part X"]))

			var rows atomic.Int64
			count := func(tx *gorm.DB) { rows.Add(max(tx.RowsAffected, 0)) }
			testerr.Must(t, api.DB.Read.Callback().Query().After("gorm:query").Register("count", count))
			locks := apitest.Made[httpapi.Locks](t, api, "GET", expand("/api/plans/{plan}/locks", ids), "")
			if n := rows.Load(); n == 0 || n > 50 {
				t.Errorf("%d rows were read", n)
			}
			found := map[string]bool{}
			for _, h := range locks.Holders {
				for _, c := range h.Claims {
					found[fmt.Sprintf("%s: %d %t", h.What, c.SuiteID, c.Exact)] = true
				}
			}
			for _, w := range want {
				if !found[w] {
					t.Errorf("%s is not among %v", w, found)
				}
			}
		})
	}
}
