package samplepage

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

// between puts a proxy between the windows and the app, as people have. It hands on what meddle
// does not keep for itself.
func (a *app) between(meddle func(w http.ResponseWriter, r *http.Request, pass http.Handler)) *app {
	a.Helper()
	target, err := url.Parse(a.url)
	if err != nil {
		a.Fatal(err)
	}
	transport := &http.Transport{}
	pass := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host },
		// A window that closes ends its requests.
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { meddle(w, r, pass) }))
	a.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		transport.CloseIdleConnections()
	})
	return &app{T: a.T, url: server.URL, stop: a.stop, broken: server.CloseClientConnections}
}

// An answer that gets lost is asked for again with the same key, and every other request has a key
// of its own.
func TestALostAnswerIsAskedForWithTheSameKey(t *testing.T) {
	a := alone(t)
	p, ids := a.planOf("a")
	var mu sync.Mutex
	var keys []string
	lose := true
	behind := a.between(func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/suites") {
			pass.ServeHTTP(w, r)
			return
		}
		mu.Lock()
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		lost := lose
		mu.Unlock()
		if !lost {
			pass.ServeHTTP(w, r)
			return
		}
		// The app does it, and the connection breaks before the answer.
		pass.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	})
	w := open(behind, behind.address(p))
	w.Allow("ERR_")
	w.choose(ids["a"])
	w.Click("#new-suite")
	w.answer("once")
	w.refused("No answer came")
	mu.Lock()
	lose = false
	mu.Unlock()
	w.Allow("409") // the name is taken, where keys are not looked at
	w.card("Try again")
	w.Await("the answer has come", `!document.querySelector("#tree [aria-busy]") && document.querySelector(".notice")`)
	w.Click("#new-suite")
	w.answer("another")
	w.Await("the other suite is there", `[...document.querySelectorAll("#tree .name")].some(n => n.textContent === "another")`)
	mu.Lock()
	defer mu.Unlock()
	// The browser itself sends a request again whose connection breaks.
	last := len(keys) - 1
	if different := slices.Compact(slices.Clone(keys)); last < 2 || len(different) != 2 || different[0] == "" || keys[last] == keys[last-1] {
		t.Errorf("the keys are %q", keys)
	}
	tree := a.ids(p)
	if tree["a/once"] == 0 || len(tree) != 4 {
		t.Errorf("the suites are %v", tree)
	}
}

// refusal is an answer of the app's, once.
func refusal(method, suffix string, status int, slug string) func(http.ResponseWriter, *http.Request, http.Handler) {
	var once sync.Once
	return func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		refuse := false
		if r.Method == method && strings.Contains(r.URL.Path, suffix) {
			once.Do(func() { refuse = true })
		}
		if !refuse {
			pass.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(object{"type": "urn:pathlock:problem:" + slug, "status": status, "title": slug, "detail": "in the words of a program"})
	}
}

// The other refusals are told in words, too, and can be tried again by a click.
func TestEveryRefusalCanBeTriedAgain(t *testing.T) {
	for _, tt := range []struct {
		status     int
		slug, says string
	}{
		{409, "path-changed", "moved or renamed it at the same moment"},
		{423, "locked", "Others were in the way, again and again"},
		{503, "lock-store-unavailable", "The lock store does not answer. Nothing was changed."},
		{503, "database-unavailable", "The database does not answer. Nothing was changed."},
	} {
		t.Run(tt.slug, func(t *testing.T) {
			a := alone(t)
			behind := a.between(refusal(http.MethodPatch, "/api/suites/", tt.status, tt.slug))
			p, ids := a.planOf("a")
			w := open(behind, behind.address(p))
			w.Allow(fmt.Sprint(tt.status))
			w.choose(ids["a"])
			w.do("rename")
			w.Press("b" + chromium.KeyEnter)
			w.refused(tt.says)
			w.shows(ids["a"], "a")
			w.card("Try again")
			w.shows(ids["a"], "b")
			w.AwaitGone(".notice.bad")
		})
	}
}

// A window whose server stops says so, and goes on by itself when there is one again.
func TestAWindowSurvivesARestart(t *testing.T) {
	a := alone(t)
	p, ids := a.planOf("a")
	var mu sync.Mutex
	down := false
	behind := a.between(func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		mu.Lock()
		gone := down
		mu.Unlock()
		if gone {
			panic(http.ErrAbortHandler)
		}
		pass.ServeHTTP(w, r)
	})
	set := func(to bool) { mu.Lock(); down = to; mu.Unlock() }
	w := open(behind, behind.address(p))
	w.Allow("ERR_")
	set(true)
	behind.broken()
	w.AwaitText("#live", "no connection")
	w.AwaitText("#banner", "The server does not answer. What you see is as of")
	ask[suite](a, "PATCH", fmt.Sprintf("/api/suites/%d", ids["a"]), object{"name": "meanwhile"})
	set(false)
	w.Await("the window is live", `document.querySelector("#live").dataset.state === "live"`)
	w.shows(ids["a"], "meanwhile")
}
