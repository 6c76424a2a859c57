package chromium

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// desktopWidth and desktopHeight are those of the window that a tab begins with.
const desktopWidth, desktopHeight = 1280, 800

// patience bounds each step of a tab. It bounds failures only.
const patience = 90 * time.Second

// Tab is one page for one test. Its methods fail the test if a step fails. They are for one
// goroutine at a time.
type Tab struct {
	t        testing.TB
	ctx      context.Context
	problems problems
	clicked  point // where the last click was
}

// Open opens a tab with cookies and storage of its own, and loads a page. The tab closes at the end
// of the test, which fails if the tab has met a problem until then that the test did not expect.
func (b *Browser) Open(t testing.TB, url string) *Tab {
	t.Helper()
	b.start(t)
	tab := newTab(b.ctx, t, chromedp.WithNewBrowserContext())
	tab.Navigate(url)
	return tab
}

// Beside opens a second tab with this one's cookies and storage, as a person's second window has.
func (tab *Tab) Beside(url string) *Tab {
	tab.t.Helper()
	beside := newTab(tab.ctx, tab.t) // it inherits them
	beside.Navigate(url)
	return beside
}

func newTab(parent context.Context, t testing.TB, options ...chromedp.ContextOption) *Tab {
	t.Helper()
	tab := &Tab{t: t}
	ctx, cancel := chromedp.NewContext(parent, append(options, chromedp.WithListener(tab.problems.see))...)
	tab.ctx = ctx
	t.Cleanup(cancel)
	// The life of the tab is the first call's context, so that one is not bounded.
	testerr.MustBe(t, "opening a tab", chromedp.Do(ctx), nil)
	t.Cleanup(tab.finish)
	testerr.MustBe(t, "asking for the violations of policies", testerr.Of(chromedp.Call(ctx, audits.Enable, cdp.Empty{})), nil)
	tab.resize(desktopWidth, desktopHeight)
	return tab
}

// finish reports what was unexpected, and what the page was like if the test has failed.
func (tab *Tab) finish() {
	for _, problem := range tab.problems.rest() {
		tab.t.Errorf("the page: %s", problem)
	}
	if !tab.t.Failed() {
		return
	}
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	if text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + (document.body?.innerText ?? "")`)); err == nil {
		tab.t.Logf("the page at the end:\n%.4000s", text)
	}
	// `go test -artifacts` keeps this folder.
	if picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot()); err == nil {
		name := strings.NewReplacer("/", "-", " ", "-").Replace(tab.t.Name()) + ".png"
		_ = os.WriteFile(filepath.Join(tab.t.ArtifactDir(), name), picture, 0o600)
	}
}

// run does steps of chromedp's own.
func (tab *Tab) run(steps ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	testerr.MustBe(tab.t, "in the browser", chromedp.Do(ctx, steps...), nil)
}

// Navigate loads a page and returns when it has loaded.
func (tab *Tab) Navigate(url string) {
	tab.t.Helper()
	tab.run(chromedp.Navigate(url))
}

// Reload loads the page anew.
func (tab *Tab) Reload() {
	tab.t.Helper()
	tab.run(chromedp.Reload())
}

// Phone gives the page the window of a small phone.
func (tab *Tab) Phone() { tab.resize(360, 740) }

// Desktop gives the page the window that it began with.
func (tab *Tab) Desktop() { tab.resize(desktopWidth, desktopHeight) }

func (tab *Tab) resize(width, height int64) {
	tab.t.Helper()
	tab.run(chromedp.EmulateViewport(width, height))
}

// Dark has the user prefer dark pages, or prefer nothing.
func (tab *Tab) Dark(dark bool) {
	tab.t.Helper()
	scheme := map[bool]string{true: "dark"}[dark]
	tab.run(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	}))
}
