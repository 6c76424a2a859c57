package adminpage

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/integration/internal/chromium"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// tidy fails the test if the page, as it is now, breaks a rule of those who hear it or see little,
// is wider than the window, or shows a character that nobody sees or that turns text around.
func tidy(t *testing.T, tab *chromium.Tab, what string) {
	t.Helper()
	tab.CheckRules(what)
	wrong := chromium.Eval[[]string](tab, `[document.documentElement.scrollWidth > innerWidth ? "it scrolls to the side" : "",
		...[...document.querySelectorAll("body *")].filter(e => e.checkVisibility() && !e.closest(".skip, svg, thead, .tree-name"))
			.filter(e => { const box = e.getBoundingClientRect(); return box.width > 0 && (box.right > innerWidth + 0.5 || box.left < -0.5); })
			.map(e => "out of the window: " + e.textContent.slice(0, 40)),
		...[document.title, document.body.innerText, ...[...document.querySelectorAll("[title], [aria-label]")].map(e => e.title + e.ariaLabel)]
			.flatMap(text => text.split("\n")).filter(text => /[\u202a-\u202e\u2066\u2067\u200b]/.test(text)).map(text => "unseen: " + text),
	].filter(Boolean)`)
	for _, w := range wrong {
		t.Errorf("%s: %s", what, w)
	}
}

// everywhere is tidy in both languages, light and dark, on a desk and on a phone.
func everywhere(t *testing.T, tab *chromium.Tab, what string) {
	t.Helper()
	for _, language := range []string{"zh-CN", "en"} {
		tab.Await("there is no dialogue", `!document.querySelector("dialog[open]")`)
		tab.Click("#language")
		tab.Await("the page is in "+language, `document.documentElement.lang === "`+language+`"`)
		tidy(t, tab, what+" in "+language)
	}
	tab.Prefer("prefers-color-scheme", "dark")
	tab.Await("the page is dark", luminance+" < 0.2")
	tidy(t, tab, what+" in the dark")
	tab.Resize(chromium.PhoneWidth, chromium.PhoneHeight)
	tidy(t, tab, what+" on a phone")
	tab.Resize(1280, 800)
	tab.Prefer()
}

// luminance is how light the page's ground is, 0 for black.
const luminance = `getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).slice(0, 3).reduce((sum, c) => sum + Number(c), 0) / 765`

// An operator finds a stuck holder: in the list of trees, by who waits for it, with all that is
// known of it. The release asks why, the holder is cancelled, and who waits goes on. The history
// has who waited afterwards.
func TestPage_operatorAtWork(t *testing.T) {
	s := newSite(t, nil)
	tab := browser.Open(t, s.url(pathlock.Tree{}))
	tab.AwaitText("#trees", "Nobody holds a lock anywhere.")
	tab.AwaitText("#overview", "Choose a tree")

	long := "a name as long as names get" + strings.Repeat(" long", 30)
	stuck := s.hold(request{note: "stuck import", origin: from("create", "POST /import"), claims: x("/a/" + long)})
	again, err := s.acquire(stuck.Context(), request{note: "its second part", claims: x("/b")})
	testerr.Must(t, err)
	t.Cleanup(func() { _ = again.Release(context.WithoutCancel(t.Context())) })
	edit, err := s.acquire(t.Context(), request{note: "Anna edits", claims: x("/c")})
	testerr.Must(t, err)
	testerr.Must(t, testerr.Of(edit.Detach(t.Context())))
	first := s.wait(request{note: "rename", origin: from("rename", "PATCH /suites/:id"), claims: x("/a")})
	s.wait(request{note: strings.Repeat("unbroken", 12), claims: x("/a/z")})

	tab.AwaitText("#trees", "testplan/plan-001")
	tab.AwaitText("#trees", "longest wait")
	everywhere(t, tab, "the list of trees")
	tab.Press(chromium.KeyTab) // past the top of the page
	tab.Click("#trees a")
	tab.AwaitText("#summary", "3 held")
	tab.AwaitText("#summary", "2 waiting")
	rows := chromium.Eval[[]string](tab, `[...document.querySelectorAll(".rows .who")].map(e => e.innerText)`)
	if want := []string{"stuck import", "rename", strings.Repeat("unbroken", 12), "its second part", "Anna edits"}; !slices.Equal(rows, want) {
		t.Errorf("the rows are %q, want %q", rows, want)
	}
	tab.AwaitText("#waits .holder", "1 waiting for this")
	tab.AwaitText("#waits .waiter:last-child", "behind rename")
	tab.AwaitText("#others", "detached")
	if kinds := chromium.Eval[[]string](tab, `[...document.querySelectorAll(".edge")].map(e => e.getAttribute("class"))`); !slices.Equal(kinds, []string{"edge edge-held", "edge edge-queued"}) {
		t.Errorf("the lines are %q, want one to the lock and one to the waiter before", kinds)
	}

	// The keyboard opens a row, which stays open, and keeps the focus, while others come and
	// go.
	tab.Await("the first row has the focus", `(document.querySelector("#waits summary").focus(), true)`)
	tab.Press(chromium.KeyEnter)
	for _, says := range []string{"POST /import", "app-1:4711", "req-create", long, "Release …"} {
		tab.AwaitText("#waits .facts", says)
	}
	passing := s.hold(request{note: "passing by", claims: x("/d")})
	tab.AwaitText("#others", "passing by")
	s.release(passing)
	tab.Await("it is gone", `!document.querySelector("#others").innerText.includes("passing by")`)
	tab.Await("the row has the focus and is open", `document.activeElement.matches("#waits details[open] summary")`)
	everywhere(t, tab, "the tree")
	tab.Fill("#filter", "ANNA")
	tab.Await("one row is left", `document.querySelectorAll(".rows > li").length === 1`)
	tab.Fill("#filter", "nothing like this")
	tab.AwaitText("#entries", "Nothing matches.")
	tab.Fill("#filter", " ")

	tab.Click("#waits .holder summary")
	tab.Click("#waits .danger")
	tab.AwaitText("#release-dialog", "stuck import · POST /import · app-1:4711")
	tab.AwaitText("#release-dialog", "2 in all")
	tab.Await("the reason has the focus", `document.activeElement.id === "release-reason"`)
	tidy(t, tab, "the release")
	tab.Press("no")
	tab.Click("#release-do")
	tab.Await("the reason is too short", `document.querySelector("#release-reason:invalid")`)
	testerr.MustBe(t, "the holder is cancelled before there is a reason", stuck.Context().Err(), nil)
	tab.Fill("#release-reason", "stuck since the deploy, agreed with Bob")
	tab.Click("#release-do")
	tab.AwaitText("#release-answer", "Released, 2 in all.")
	<-stuck.Context().Done()
	if cause := context.Cause(stuck.Context()); !errors.Is(cause, pathlock.ErrLost) {
		t.Errorf("the holder's context ended because of %v", cause)
	}
	if err := <-first; err != nil {
		t.Fatalf("the waiter got %v", err)
	}
	tab.Press(chromium.KeyEscape)
	tab.AwaitGone("#release-dialog")
	tab.AwaitText("#waits .holder", "rename")

	tab.Click("#view-history")
	tab.AwaitText("#history-table", "then got it")
	tab.AwaitText("#history-table tbody tr", "stuck import")
	tab.AwaitText("#history-places", "/a")
	everywhere(t, tab, "the history")
	tab.Fill("#history-filter", "nothing like this")
	tab.AwaitText("#history", "Nothing matches.")

	// The address has what is chosen, and the language stays.
	tab.Click("#language")
	beside := tab.Beside(chromium.Eval[string](tab, "location.href"))
	beside.AwaitText("#history-table", "后来得到")
	beside.Click("#view-now")
	beside.AwaitText("#waits", "谁在等谁")
}

// A wait can be ended, too. What has ended by itself is not released, nor what the store does not
// know.
func TestRelease(t *testing.T) {
	s := newSite(t, nil)
	lock := s.hold(request{note: "import", claims: x("/a")})
	waits := s.wait(request{note: "rename", claims: x("/a")})
	tab := s.open()
	ask := func(row string) {
		tab.Click(row + " summary")
		tab.Click(row + " .danger")
		tab.Fill("#release-reason", "stuck for an hour")
	}
	ask("#waits .waiter")
	tab.AwaitText("#release-dialog", "End this wait?")
	tab.Allow("503")
	s.instead.Store(http.StatusServiceUnavailable)
	tab.Click("#release-do")
	tab.AwaitText("#release-answer", "The lock store does not answer")
	s.instead.Store(0)
	tab.Click("#release-do")
	tab.AwaitText("#release-answer", "Released, 1 in all.")
	if err := <-waits; !errors.Is(err, pathlock.ErrLost) {
		t.Errorf("the waiter got %v", err)
	}
	tab.Click("#release-cancel")
	tab.AwaitShown("#others")
	ask("#others li")
	s.release(lock)
	tab.Allow("409")
	tab.Click("#release-do")
	tab.AwaitText("#release-answer", "It has ended by itself")
}

// What users write stays text, wherever it is shown, and none of it is unseen or turns the rest
// around. The tab fails the test if any of it runs, or asks for anything.
func TestNamesAreText(t *testing.T) {
	s := newSite(t, nil)
	const evil = `<img src=x onerror="document.title='owned'">` + "\u202e\u200bturned"
	const worse = `"><script>document.title='owned'</script>{{.}}javascript:alert(1)` + "\u202e"
	s.tree = newTree(t, "ns\u202e", "plan "+evil)
	origin := pathlock.Origin{Operation: evil, Route: "GET " + worse, RequestID: evil, Instance: worse, Trace: evil}
	path := "/" + strings.ReplaceAll(evil, "/", "") + "/\u202egnp.exe"
	held := s.hold(request{note: evil, origin: origin, claims: x(path)})
	s.wait(request{note: worse, origin: origin, claims: x(path)})
	tab := s.open()
	tab.AwaitText("#trees", "<img src=x onerror=")
	tab.AwaitText("#tree-title", "<img src=x onerror=")
	tab.Click("#waits .holder summary")
	tab.AwaitText("#waits .facts", "<img src=x onerror=")
	tidy(t, tab, "the tree")
	tab.Click("#waits .danger")
	tidy(t, tab, "the release")
	tab.Press(chromium.KeyEscape)
	s.release(held)
	tab.Click("#view-history")
	tab.AwaitText("#history-table", "<img src=x onerror=")
	tidy(t, tab, "the history")
	if n := tab.Count("img, script:not([src]), iframe, [onerror]"); n != 0 || strings.Contains(chromium.Eval[string](tab, "document.title"), "owned") {
		t.Errorf("%d elements were made of text, or a script of a user's has run", n)
	}
}
