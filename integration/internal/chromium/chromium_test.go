package chromium_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

var browser chromium.Browser

func TestMain(m *testing.M) { goleak.VerifyTestMain(browser.Main(m)) }

// serve serves one page under a strict policy, with a script beside it.
func serve(t *testing.T, html, script string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'; connect-src *")
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = fmt.Fprint(w, `<!doctype html><html lang="en"><link rel="icon" href="/icon"><title>page</title>`, html,
				`<script type="module" src="/script.js"></script>`)
		case "/script.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = fmt.Fprint(w, script)
		case "/icon":
			w.Header().Set("Content-Type", "image/svg+xml")
			_, _ = fmt.Fprint(w, `<svg xmlns="http://www.w3.org/2000/svg"/>`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// Each of these pages has one problem that the tab sees, and no other: those that a test does not
// expect fail it at its end. The tests of pages show the rest of what a tab does.
func TestProblems(t *testing.T) {
	for name, c := range map[string]struct{ html, script, problem string }{
		"error on the console":    {"", `console.error("all is", 42)`, "console: \"all is\" 42"},
		"uncaught exception":      {"", `null.nothing`, "exception: Uncaught TypeError"},
		"rejected promise":        {"", `Promise.reject(new Error("nobody listens"))`, "nobody listens"},
		"script in the page":      {"<script>1</script>", "", "Content-Security-Policy"},
		"style in the page":       {`<p style="color: red">`, "", "Content-Security-Policy"},
		"evaluated text":          {"", `try { new Function("1") } catch {}`, "Content-Security-Policy"},
		"missing file":            {"", `fetch("/missing")`, "404"},
		"request to a far host":   {"", `fetch("http://host.invalid/").catch(() => {})`, "a request to a foreign host: http://host.invalid/"},
		"picture of a far host":   {`<img alt="" src="http://host.invalid/a.png">`, "", "Content-Security-Policy"},
		"handler in an attribute": {`<p onclick="alert()">`, "", "Content-Security-Policy"},
	} {
		t.Run(name, func(t *testing.T) {
			tab := browser.Open(t, serve(t, c.html, c.script))
			tab.Expect(c.problem)
			// A problem may be told twice: as what went wrong, and as its consequence or its cause.
			for _, also := range []string{"security: ", "javascript: ", "network: ", "http://host.invalid/"} {
				tab.Allow(also)
			}
		})
	}
}
