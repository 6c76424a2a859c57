package adminpage

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/integration/internal/chromium"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// busy is a site with something of everything, and long names.
func busy(t *testing.T) *site {
	s := newSite(t, memstore.New(), nil)
	long := "a name that is as long as names get " + strings.Repeat("long ", 30)
	s.hold(request{note: "nightly import " + long, origin: from("create", "POST /plans/:id/import"), claims: []pathlock.Claim{x("/regression/" + strings.TrimSpace(long) + "/payments")}})
	s.hold(request{note: "export", origin: from("read", "GET /suites/:id/export"), claims: []pathlock.Claim{sh("/smoke")}})
	s.hold(request{note: "another export", origin: from("read", "GET /suites/:id/export"), claims: []pathlock.Claim{sh("/smoke")}})
	s.wait(request{note: "rename", origin: from("rename", "PATCH /suites/:id"), claims: []pathlock.Claim{x("/regression")}})
	s.wait(request{note: strings.Repeat("unbroken", 12), origin: from("move", "POST /suites/:id/move"), claims: []pathlock.Claim{x("/smoke")}})
	return s
}

// fits reports what sticks out of the window to the right.
const fits = `[...document.querySelectorAll("body *")].filter(e => e.checkVisibility() && !e.closest(".sr, .skip, svg, thead"))
	.filter(e => { const box = e.getBoundingClientRect(); return box.width > 0 && (box.right > innerWidth + 0.5 || box.left < -0.5); })
	.filter(e => { for (let up = e.parentElement; up; up = up.parentElement) if (getComputedStyle(up).overflowX !== "visible") return false; return true; })
	.map(e => e.tagName + "." + e.className + " " + e.textContent.slice(0, 40))`

func checkFits(t *testing.T, tab *chromium.Tab, what string) {
	t.Helper()
	tab.CheckRules(what)
	if chromium.Eval[bool](tab, `document.documentElement.scrollWidth > innerWidth`) {
		t.Errorf("%s scrolls to the side", what)
	}
	if out := chromium.Eval[[]string](tab, fits); len(out) > 0 {
		t.Errorf("%s: out of the window: %q", what, out)
	}
}

// On a phone nothing is wider than the window.
func TestAPhone(t *testing.T) {
	s := busy(t)
	for _, language := range []string{"en", "zh-CN"} {
		tab := browser.Blank(t)
		tab.Resize(chromium.PhoneWidth, chromium.PhoneHeight)
		tab.Navigate(strings.Replace(s.url(pathlock.Tree{}), "/locks/", "/locks/?lang="+language, 1))
		tab.AwaitText("#trees a", "plan-001")
		checkFits(t, tab, "the list of trees")
		tab.Click("#trees a")
		tab.AwaitShown("#waits")
		checkFits(t, tab, "the tree")
		tab.Click("#waits button")
		tab.AwaitShown("#inspector")
		checkFits(t, tab, "the details")
		tab.Click("#release")
		tab.AwaitShown("#release-dialog")
		checkFits(t, tab, "the release")
		tab.Press(chromium.KeyEscape)
		tab.Press(chromium.KeyEscape)
		tab.AwaitGone("#inspector")
		tab.Click(".back")
		tab.AwaitShown("#trees a")
		tab.Click("#view-history")
		tab.AwaitShown("#history-table td")
		checkFits(t, tab, "the history")
		tab.Click(".twisty-button")
		tab.AwaitShown("#history-table .detail")
		checkFits(t, tab, "an episode")
		for _, kind := range []string{"#history-routes", "#history-places"} {
			tab.Click(kind)
			checkFits(t, tab, kind)
		}
	}
}

// Beside the details of an entry, on a laptop, there is room for the names of nodes.
func TestNodesBesideTheInspector(t *testing.T) {
	s := newSite(t, memstore.New(), nil)
	s.hold(request{note: "nightly import", origin: from("create", "POST /plans/:id/import"), claims: []pathlock.Claim{x("/suite number four")}})
	s.wait(request{note: "rename", claims: []pathlock.Claim{x("/suite number four")}})
	tab := s.open()
	tab.Resize(1280, 800)
	tab.Click("#waits button")
	tab.AwaitShown("#inspector")
	checkFits(t, tab, "the tree beside its details")
	cut := chromium.Eval[[]string](tab, `[...document.querySelectorAll("#nodes .name")].filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)`)
	if len(cut) > 0 {
		t.Errorf("the names are cut: %q", cut)
	}
}

// Where no tree is chosen, the page shows the last stalls, and leads to all of them.
func TestLastStallsOnTheFirstPage(t *testing.T) {
	s := newSite(t, memstore.New(), nil)
	tab := browser.Open(t, s.url(pathlock.Tree{}))
	tab.AwaitText("#overview", "Choose a tree")
	tab.AwaitGone("#last-stalls")
	held := s.hold(request{note: "nightly import", claims: []pathlock.Claim{x("/payments")}})
	waits := s.wait(request{note: "rename", claims: []pathlock.Claim{x("/payments")}})
	tab.AwaitText("#last-stalls", "nightly import")
	tab.AwaitText("#last-stalls", "/payments")
	checkFits(t, tab, "the first page")
	s.release(held)
	got := <-waits
	if got.err != nil {
		t.Fatal(got.err)
	}
	s.release(got.lock)
	tab.Click("#last-stalls .all")
	tab.AwaitText("#history-table", "nightly import")
}

// The page speaks the browser's language, or the one that was chosen here before.
func TestLanguages(t *testing.T) {
	s := busy(t)
	tab := s.open()
	language := func() string { return chromium.Eval[string](tab, "document.documentElement.lang") }
	if got := language(); got != "en" {
		t.Errorf("the page begins in %q", got)
	}
	tab.Click("#nodes .node-row:nth-child(2)")
	tab.Click("#language")
	tab.AwaitText("#waits", "谁在等谁")
	tab.AwaitText("#inspector", "锁定范围")
	tab.AwaitText("#link", "实时")
	if got := language(); got != "zh-CN" {
		t.Errorf("the page says that it is in %q", got)
	}
	tab.Reload()
	tab.AwaitText("#waits", "谁在等谁")
	tab.Click("#language")
	tab.AwaitText("#waits", "Who waits for whom")
	tab.Navigate(strings.Replace(s.url(s.tree), "/locks/", "/locks/?lang=zh-CN", 1))
	tab.AwaitText("#waits", "谁在等谁")
}

// Both languages say the same things, about the same values, and all that the page says is among
// them.
func TestBothLanguagesHaveTheSameWords(t *testing.T) {
	s := newSite(t, memstore.New(), nil)
	tab := s.open()
	wrong := chromium.Eval[[]string](tab, `(async () => {
		const { en } = await import("./assets/en.js"), { zh } = await import("./assets/zh.js");
		const wrong = [];
		const values = text => [...String(text).matchAll(/\{\w+\}/g)].map(m => m[0]).sort().join();
		for (const key of new Set([...Object.keys(en), ...Object.keys(zh)])) {
			if (!(key in en) || !(key in zh)) wrong.push(key + " is in one language only");
			else if (Array.isArray(en[key]) !== Array.isArray(zh[key])) wrong.push(key + " counts in one language only");
			else if (values([en[key]].flat().at(-1)) !== values([zh[key]].flat().at(-1))) wrong.push(key + " has other values");
		}
		for (const file of ["dom", "words", "describe", "feed", "history", "inspector", "nodes", "page", "release", "request", "snapshot", "trees", "waits"]) {
			const source = await (await fetch("assets/" + file + ".js")).text();
			for (const [, key] of source.matchAll(/\bt\("([\w.-]+)"/g)) if (!(key in en)) wrong.push(file + ".js says " + key);
		}
		return wrong;
	})()`)
	for _, w := range wrong {
		t.Error(w)
	}
}

// luminance is the relative luminance of the page's ground, 0 for black.
const luminance = `getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).slice(0, 3).reduce((sum, c) => sum + Number(c), 0) / 765`

// The colours are the system's, unless others are chosen. The choice is remembered.
func TestColours(t *testing.T) {
	s := busy(t)
	tab := s.open()
	tab.Await("the page is light", luminance+" > 0.9")
	tab.Prefer("prefers-color-scheme", "dark")
	tab.Await("the page is as dark as the system", luminance+" < 0.2")
	tab.Click("#theme")
	tab.Await("light is chosen", luminance+" > 0.9")
	tab.Reload()
	tab.Await("the choice is remembered", luminance+" > 0.9")
	tab.Prefer()
	tab.Click("#theme")
	tab.Await("dark is chosen", luminance+" < 0.2")
	tab.Click("#theme")
	tab.Await("as the system again", luminance+" > 0.9")
}

// contrast finds texts that are hard to read: less than 4.5 to 1 against the ground behind them.
const contrast = `(() => {
	const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
	const rgb = colour => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
	const light = ([r, g, b]) => { const [x, y, z] = [r, g, b].map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4); return 0.2126 * x + 0.7152 * y + 0.0722 * z; };
	const ground = e => { for (let up = e; up; up = up.parentElement) { const c = rgb(getComputedStyle(up).backgroundColor); if (c[3] === 255) return c; } return [255, 255, 255]; };
	const bad = new Set();
	for (const e of document.querySelectorAll("body *")) {
		if (!e.checkVisibility() || e.closest("button:disabled, .sr") || ![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
		const [a, b] = [light(rgb(getComputedStyle(e).color)), light(ground(e))];
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) bad.add(e.tagName + "." + e.className + " " + ratio.toFixed(2) + " " + e.textContent.slice(0, 30));
	}
	return [...bad];
})()`

func TestTextsCanBeRead(t *testing.T) {
	s := busy(t)
	for _, scheme := range []string{"light", "dark"} {
		tab := browser.Blank(t)
		tab.Prefer("prefers-color-scheme", scheme)
		tab.Navigate(s.url(s.tree))
		tab.Click("#waits button")
		tab.AwaitShown("#inspector")
		if bad := chromium.Eval[[]string](tab, contrast); len(bad) > 0 {
			t.Errorf("hard to read in %s: %q", scheme, bad)
		}
		tab.Click("#release")
		if bad := chromium.Eval[[]string](tab, contrast); len(bad) > 0 {
			t.Errorf("hard to read in the dialogue in %s: %q", scheme, bad)
		}
		tab.Press(chromium.KeyEscape)
		tab.Click("#view-history")
		tab.AwaitShown("#history-table td")
		if bad := chromium.Eval[[]string](tab, contrast); len(bad) > 0 {
			t.Errorf("hard to read in the history in %s: %q", scheme, bad)
		}
	}
}

// Nothing moves for those who prefer that.
func TestReducedMotion(t *testing.T) {
	s := busy(t)
	tab := s.open()
	const moving = `[...document.querySelectorAll("*")].filter(e => getComputedStyle(e).transitionDuration !== "0s").length`
	tab.Await("something moves when a node opens", moving+" > 0")
	tab.Prefer("prefers-reduced-motion", "reduce")
	tab.Await("nothing does", moving+" === 0")
}
