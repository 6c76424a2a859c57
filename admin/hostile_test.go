package admin_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// everything is every path of the page.
var everything = []string{
	"", "/", "/assets/page.js", "/openapi.json", "/api/trees", "/api/tree?namespace=testplan&id=7", "/api/history",
	"/api/release", "/nothing", "/../secret",
}

func TestPage_showsNothingWithoutAuthorisation(t *testing.T) {
	for _, tt := range []struct {
		err    error
		status int
		slug   string
	}{
		{admin.ErrUnauthorized, 401, "unauthenticated"},
		{fmt.Errorf("no session: %w", admin.ErrUnauthorized), 401, "unauthenticated"},
		{errors.New("secret reason"), 403, "forbidden"},
	} {
		config := anybody()
		config.Authorize = func(*http.Request) error { return tt.err }
		config.AuthorizeRelease = func(*http.Request) (string, error) { t.Error("asked who may release"); return "", nil }
		f := newFixture(t, config)
		lock := f.hold("/dir1", "import")
		for _, path := range everything {
			for _, method := range []string{"GET", "POST", "OPTIONS", "FROB"} {
				r := f.send(method, "/admin/locks"+path, "{}", "Content-Type: application/json")
				r.problem(t, tt.status, tt.slug)
				if strings.Contains(string(r.body), "secret") || strings.Contains(string(r.body), "import") {
					t.Errorf("%s %s tells %s", method, path, r.body)
				}
			}
			if r := f.send("HEAD", "/admin/locks"+path, ""); r.StatusCode != tt.status {
				t.Errorf("HEAD %s: %d, want %d", path, r.StatusCode, tt.status)
			}
		}
		if f.store.snapshots.Load() > 0 || lock.Context().Err() != nil {
			t.Error("the store was asked, or the lock is gone")
		}
	}
}

// body is a release of the entry of plan 7 with a note.
func (f *fixture) body(note string) string {
	return fmt.Sprintf(`{"namespace":"testplan","id":"7","key":%q,"reason":"stuck since noon"}`, f.entry(note).Key)
}

const asJSON = "Content-Type: application/json"

// A page of another origin, of another host or of a sibling's, and whoever names a tree that is
// none, is refused. A header follows behind each bar; a POST is a release of what is there.
func TestPage_refusesForeignPages(t *testing.T) {
	f := newFixture(t, anybody())
	lock := f.hold("/dir1", "import")
	body := f.body("import")
	for request, answer := range map[string]string{
		"POST /api/release | Content-Type: application/json | Origin: null":                                          "403 foreign-origin",
		"POST /api/release | Content-Type: application/json | Origin: http://localhost.evil.example":                 "403 foreign-origin",
		"POST /api/release | Content-Type: application/json | Sec-Fetch-Site: same-site":                             "403 foreign-origin",
		"POST /api/release | Content-Type: application/json | Sec-Fetch-Site: cross-site | Origin: http://localhost": "403 foreign-origin",
		"GET /api/trees | Sec-Fetch-Site: cross-site":                                                                "403 foreign-origin",
		"GET /api/tree?namespace=a&id=b | Sec-Fetch-Site: same-site":                                                 "403 foreign-origin",
		"GET /api/history | Sec-Fetch-Site: cross-site":                                                              "403 foreign-origin",
		"POST /api/release":                                                   "415 unsupported-media-type",
		"POST /api/release | Content-Type: text/plain":                        "415 unsupported-media-type",
		"POST /api/release | Content-Type: application/x-www-form-urlencoded": "415 unsupported-media-type",
		"POST /api/release | Content-Type: application/json2":                 "415 unsupported-media-type",
		"POST /api/release | Content-Type: text/plain; application/json":      "415 unsupported-media-type",
		// DNS rebinding: the browser takes the page for one of the foreign origin.
		"POST /api/release | Content-Type: application/json | Host: evil.example | Origin: http://evil.example | Sec-Fetch-Site: same-origin": "421 misdirected",
		"GET /api/tree?namespace=testplan&id=7 | Host: 127.0.0.1.evil.example":                                                                "421 misdirected",
		"GET /api/release | X-HTTP-Method-Override: POST":                                                                                     "405 method-not-allowed",
		"PUT /api/release | X-HTTP-Method-Override: POST":                                                                                     "405 method-not-allowed",
		"OPTIONS /api/release | Origin: http://evil.example":                                                                                  "405 method-not-allowed",
		"GET /wrong":                        "404 not-found",
		"GET /api/tree":                     "400 invalid-request",
		"GET /api/tree?namespace=a":         "400 invalid-request",
		"GET /api/tree?id=a":                "400 invalid-request",
		"GET /api/tree?namespace=&id=a":     "400 invalid-request",
		"GET /api/tree?namespace=a%00&id=a": "400 invalid-request",
		"GET /api/tree?namespace=a&id=%ff":  "400 invalid-request",
		"GET /api/tree?namespace=a&id=" + strings.Repeat("x", 256): "400 invalid-request",
	} {
		t.Run(request, func(t *testing.T) {
			lines := strings.Split(request, " | ")
			method, path, _ := strings.Cut(lines[0], " ")
			var status int
			var slug string
			testerr.Must(t, testerr.Of(fmt.Sscan(answer, &status, &slug)))
			r := f.send(method, "/admin/locks"+path, body, lines[1:]...)
			r.problem(t, status, slug)
			if allowed := r.Header.Get("Allow"); (status == 405) != (allowed == "POST") || r.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("headers %v", r.Header)
			}
		})
	}
	testerr.MustBe(t, "the lock", lock.Context().Err(), nil)
	for _, headers := range [][]string{{"Sec-Fetch-Site: same-origin"}, {"Origin: http://localhost"}, {"Sec-Fetch-Site: none"}} {
		again := f.hold("/dir2", headers[0])
		if r := f.send("POST", "/admin/locks/api/release", f.body(headers[0]), append(headers, asJSON)...); r.StatusCode != http.StatusOK {
			t.Errorf("%v: %d %s, want 200", headers, r.StatusCode, r.body)
		}
		<-again.Context().Done()
	}
	// A link on another site leads to the page, and its path without the slash to the one with it,
	// whatever a proxy has removed.
	if r := f.send("GET", "/admin/locks/", "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"); r.StatusCode != http.StatusOK {
		t.Errorf("a link to the page: %d", r.StatusCode)
	}
	if r := f.send("GET", "/admin/locks?lang=zh-CN", ""); r.StatusCode != http.StatusPermanentRedirect || r.Header.Get("Location") != "./locks/?lang=zh-CN" {
		t.Errorf("without the slash: %d to %q", r.StatusCode, r.Header.Get("Location"))
	}
}

func TestPage_servesOnlyListedHosts(t *testing.T) {
	config := anybody()
	config.Hosts = []string{"Locks.example.com"}
	f := newFixture(t, config)
	for host, status := range map[string]int{"locks.example.com": 200, "127.0.0.1": 421, "localhost": 421, "evil.example": 421} {
		if r := f.send("GET", "/admin/locks/api/trees", "", "Host: "+host); r.StatusCode != status {
			t.Errorf("host %q: %d, want %d", host, r.StatusCode, status)
		}
	}
}

// A rule in a proxy knows one spelling of a path. So there is no other, wherever the page is
// mounted.
func TestPage_pathsHaveOneSpelling(t *testing.T) {
	for _, mount := range []struct{ prefix, strip, at string }{
		{"", "", "/admin/locks"}, {"/x/y/", "", "/x/y"}, {"/", "/x/y", "/x/y"}, {"", "/x/y", "/x/y/admin/locks"},
	} {
		config := anybody()
		config.Prefix = mount.prefix
		f := newFixture(t, config)
		for path, status := range map[string]int{
			mount.at + "/": 200, mount.at + "/api/trees": 200, mount.at + "/assets/page.js": 200,
			"/api/trees": 404, "/x/api/trees": 404, "/ADMIN/locks/api/trees": 404, "//admin/locks/api/trees": 404, mount.at + mount.at + "/api/trees": 404,
			mount.at + "//api/trees": 404, mount.at + "/api/trees/": 404, mount.at + "/API/trees": 404, mount.at + "/api/../api/trees": 404,
			mount.at + "/assets/": 404, mount.at + "/assets/page.html": 404, mount.at + "/%61pi/trees": 404, mount.at + "/api%2ftrees": 404,
			mount.at + "/assets/..%2fopenapi.json": 404, mount.at + "/api/trees;x": 404,
		} {
			w := httptest.NewRecorder()
			http.StripPrefix(mount.strip, f.page).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost"+path, nil))
			if w.Code != status {
				t.Errorf("Prefix %q, stripped of %q: GET %s: %d, want %d", mount.prefix, mount.strip, path, w.Code, status)
			}
		}
	}
}

func TestPage_protectsEveryAnswer(t *testing.T) {
	f := newFixture(t, anybody())
	for _, path := range everything[1:] {
		h := f.send("GET", "/admin/locks"+path, "").Header
		csp := h.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") ||
			h.Get("X-Frame-Options") != "DENY" || h.Get("Referrer-Policy") != "no-referrer" ||
			h.Get("Cross-Origin-Opener-Policy") != "same-origin" || h.Get("Cross-Origin-Resource-Policy") != "same-origin" ||
			h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Set-Cookie") != "" || h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("GET %s: headers %v", path, h)
		}
		cache := "no-store"
		if strings.HasPrefix(path, "/assets") {
			cache = "private, no-cache"
		}
		if h.Get("Cache-Control") != cache {
			t.Errorf("GET %s: Cache-Control %q, want %q", path, h.Get("Cache-Control"), cache)
		}
	}
}

func TestNew_refusesAPageThatNobodyGuards(t *testing.T) {
	allowed := func(*http.Request) error { return nil }
	for _, tt := range []struct {
		what   string
		config admin.Config
		says   string
	}{
		{"no Authorize", admin.Config{}, "Authorize"},
		{"AuthorizeRelease alone", admin.Config{AuthorizeRelease: func(*http.Request) (string, error) { return "", nil }}, "Authorize"},
		{"a prefix without a slash", admin.Config{Authorize: allowed, Prefix: "admin"}, "Prefix"},
		{"a host with a scheme", admin.Config{Authorize: allowed, Hosts: []string{"https://a.example"}}, "host"},
		{"a poll without a unit", admin.Config{Authorize: allowed, Poll: 2}, "Poll"},
		{"a negative limit", admin.Config{Authorize: allowed, MaxTrees: -1}, "MaxTrees"},
	} {
		page, err := admin.New(pathlock.New(memstore.New()), tt.config)
		if page != nil || !errors.Is(err, admin.ErrConfig) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want ErrConfig that says %q", tt.what, err, tt.says)
		}
	}
}
