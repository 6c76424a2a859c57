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
// expect fail it at its end.
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

func TestNoProblem(t *testing.T) {
	tab := browser.Open(t, serve(t, "<h1>calm</h1>", `document.body.append("done")`))
	tab.AwaitText("body", "done")
	if got := tab.Text("h1"); got != "calm" {
		t.Errorf("the heading says %q", got)
	}
}

// What a person does is done by events of the browser's own.
func TestInput(t *testing.T) {
	tab := browser.Open(t, serve(t, `
		<button id="late" disabled>late</button><button id="again">again</button>
		<div id="far"></div><input value="before"><ol></ol>`, `
		const say = text => document.querySelector("ol").append(Object.assign(document.createElement("li"), { textContent: text }));
		late.onclick = event => say("late " + event.isTrusted);
		again.ondblclick = event => say("twice");
		document.querySelector("input").onkeydown = event => { if (event.key === "Enter") say(event.target.value); };
		document.onfocusin = event => event.target.id && say("focus " + event.target.id);
		setTimeout(() => { late.disabled = false; }, 50);`))
	tab.Click("#late") // waits until it is enabled
	tab.AwaitText("ol", "late true")
	tab.DoubleClick("#again")
	tab.AwaitText("ol", "twice")
	tab.Fill("input", "after 中文")
	tab.Press(chromium.KeyEnter)
	tab.AwaitText("ol", "after 中文")
	tab.Click("#late")
	tab.Press(chromium.KeyTab)
	tab.Await("the focus is on the next button", `document.activeElement === again`)
	tab.PressShift(chromium.KeyTab)
	tab.Await("the focus is back", `document.activeElement === late`)
}

// The tabs of a test share nothing unless one is opened beside the other.
func TestTabs(t *testing.T) {
	page := serve(t, "", "")
	first := browser.Open(t, page)
	chromium.Eval[bool](first, `localStorage.setItem("who", "first") ?? true`)
	if got := chromium.Eval[*string](browser.Open(t, page), `localStorage.getItem("who")`); got != nil {
		t.Errorf("another tab reads %q", *got)
	}
	if got := chromium.Eval[*string](first.Beside(page), `localStorage.getItem("who")`); got == nil || *got != "first" {
		t.Errorf("the tab beside reads %v", got)
	}
}

func TestWindow(t *testing.T) {
	tab := browser.Open(t, serve(t, "", ""))
	tab.Resize(chromium.PhoneWidth, chromium.PhoneHeight)
	tab.Prefer("prefers-color-scheme", "dark", "prefers-reduced-motion", "reduce")
	tab.Await("the page has the phone's width", `innerWidth === 360`)
	tab.Await("the user prefers dark and calm", `matchMedia("(prefers-color-scheme: dark) and (prefers-reduced-motion: reduce)").matches`)
	if picture := string(tab.Screenshot()); len(picture) < 8 || picture[:4] != "\x89PNG" {
		t.Errorf("the screenshot is no PNG: %.8q", picture)
	}
}
