package adminpage

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

// What users write stays text, wherever it is shown, and none of it is unseen or turns the rest
// around. The tab fails the test if any of it runs, or asks for anything.
func TestNamesAreText(t *testing.T) {
	eachStore(t, func(t *testing.T, store pathlock.Store) {
		s := newSite(t, store, nil)
		const evil = `<img src=x onerror="document.title='owned'">`
		const worse = `"><script>document.title='owned'</script>{{.}}javascript:alert(1)`
		path := "/" + strings.ReplaceAll(evil, "/", "") + "/" + strings.ReplaceAll(worse, "/", "") + "/\u202egnp.exe"
		var err error
		if s.tree, err = pathlock.NewTree("ns\u202e", "plan "+evil); err != nil {
			t.Fatal(err)
		}
		const turned = "\u202e\u200bturned"
		evilOrigin := pathlock.Origin{Operation: evil + turned, Route: "GET " + worse + turned, RequestID: evil + turned, Instance: worse + turned, Trace: evil + turned}
		held := s.hold(request{note: evil + turned, origin: evilOrigin, claims: []pathlock.Claim{x(path)}})
		s.wait(request{note: worse + turned, origin: evilOrigin, claims: []pathlock.Claim{x(path)}})
		tab := s.open()
		tab.AwaitText("#trees", evil)
		tab.AwaitText("#tree-title", evil)
		tab.AwaitText("#nodes", "<img src=x onerror=")
		tab.AwaitText("#waits", worse)
		tab.CheckRules("the tree")
		checkSeen(t, tab, "the tree")
		tab.Click("#waits li.cause button")
		tab.AwaitText("#inspector", evil)
		tab.CheckRules("the details")
		checkSeen(t, tab, "the details")
		tab.Click("#release")
		tab.AwaitText("#release-dialog", evil)
		tab.CheckRules("the release")
		checkSeen(t, tab, "the release")
		tab.Press(chromium.KeyEscape)
		s.release(held)
		tab.Press(chromium.KeyEscape)
		tab.Click("#view-history")
		tab.AwaitText("#history-table", "<img src=x onerror=")
		tab.Click("#history-table .twisty-button")
		tab.AwaitText("#history-table .detail", evil)
		tab.CheckRules("the history")
		checkSeen(t, tab, "the history")
		for _, kind := range []string{"#history-routes", "#history-places"} {
			tab.Click(kind)
			tab.AwaitShown("#history-table td")
		}
		if got := chromium.Eval[int](tab, `document.querySelectorAll("img, script:not([src]), iframe, [onerror]").length`); got != 0 {
			t.Errorf("%d elements were made of text", got)
		}
		if title := chromium.Eval[string](tab, "document.title"); strings.Contains(title, "owned") {
			t.Error("a script of a user's has run")
		}
	})
}

// checkSeen fails the test if the page shows a character that turns text around, but for the marks
// that isolate it, or one that nobody sees.
func checkSeen(t *testing.T, tab *chromium.Tab, what string) {
	t.Helper()
	unseen := chromium.Eval[[]string](tab, `[document.title, document.body.innerText,
		...[...document.querySelectorAll("*")].flatMap(e => ["title", "aria-label"].map(name => e.getAttribute(name) ?? ""))]
		.flatMap(text => text.split("\n")).filter(text => /[\u202a-\u202e\u2066\u2067\u200b]/.test(text))`)
	if len(unseen) > 0 {
		t.Errorf("%s shows %q", what, unseen)
	}
}
