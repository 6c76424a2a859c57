package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

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
	if other := api.Do(t, "GET", path, "", "If-None-Match", `W/"x"`); other.Status != http.StatusOK || len(other.Body) == 0 {
		t.Errorf("%s, which has changed: %d with %d bytes", path, other.Status, len(other.Body))
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
