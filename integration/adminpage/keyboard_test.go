package adminpage

import (
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/integration/internal/chromium"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// tabTo presses the tab key until an element has the focus, which has to be visible on each on the
// way.
func tabTo(tab *chromium.Tab, selector string) {
	tab.T().Helper()
	for range 60 {
		if chromium.Eval[bool](tab, fmt.Sprintf("document.activeElement.matches(%s)", chromium.Quote(selector))) {
			return
		}
		tab.Press(chromium.KeyTab)
		if seen := chromium.Eval[string](tab, `(() => {
			const e = document.activeElement, style = getComputedStyle(e);
			if (e === document.body || !e.matches(":focus-visible")) return "";
			return style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 2 ? e.tagName + "#" + e.id + "." + e.className : "";
		})()`); seen != "" {
			tab.T().Errorf("the focus cannot be seen on %s", seen)
		}
	}
	tab.T().Fatalf("the tab key does not lead to %s", selector)
}

// row is the row of the lock tree that has the focus.
func focusedRow(tab *chromium.Tab) string {
	return chromium.Eval[string](tab, `document.activeElement.getAttribute("role") === "row" ? document.activeElement.querySelector(".name").innerText : "no row"`)
}

// Everything can be done without a mouse: choose a tree, walk through it, look at a lock, release
// it.
func TestTheKeyboardAlone(t *testing.T) {
	s := newSite(t, memstore.New(), nil)
	lock := s.hold(request{note: "import", origin: from("create", "POST /import"), claims: []pathlock.Claim{x("/a/b/c")}})
	s.hold(request{note: "export", claims: []pathlock.Claim{sh("/d")}})
	s.hold(request{note: "export too", claims: []pathlock.Claim{sh("/d")}})
	tab := browser.Open(t, s.url(pathlock.Tree{}))
	tab.AwaitText("#trees a", "plan-001")

	tabTo(tab, "#skip")
	tab.AwaitShown("#skip")
	tab.Press(chromium.KeyEnter)
	tab.Await("the skip link leads to the locks", `document.activeElement.id === "main"`)
	tab.Reload()
	tab.AwaitText("#trees a", "plan-001")
	tabTo(tab, "#trees a")
	tab.Press(chromium.KeyEnter)
	tab.AwaitText("#nodes", "import")

	tabTo(tab, "#nodes [role=row]")
	walk := func(key, name, want string) {
		t.Helper()
		tab.Press(key)
		if got := focusedRow(tab); got != want {
			t.Errorf("%s leads to %q, want %q", name, got, want)
		}
	}
	walk(chromium.KeyArrowDown, "down", "a / b / c")
	walk(chromium.KeyArrowDown, "down", "d")
	walk(chromium.KeyArrowRight, "right, into an open node", "")
	walk(chromium.KeyArrowLeft, "left, to the node above", "d")
	walk(chromium.KeyArrowLeft, "left, which closes", "d")
	if open := chromium.Eval[string](tab, "document.activeElement.ariaExpanded"); open != "false" {
		t.Errorf("after the left key the node is open: %s", open)
	}
	walk(chromium.KeyEnd, "end", "d")
	walk(chromium.KeyHome, "home", "whole tree")
	walk(chromium.KeyArrowDown, "down", "a / b / c")
	// One row alone is in the order of the tab key.
	if n := tab.Count("#nodes [role=row][tabindex='0']"); n != 1 {
		t.Errorf("%d rows take the tab key", n)
	}

	tab.Press(chromium.KeyEnter)
	tab.AwaitText("#inspector h3", "import")
	tabTo(tab, "#release")
	tab.Press(chromium.KeyEnter)
	tab.Await("the reason has the focus", `document.activeElement.id === "release-reason"`)
	tab.Press(chromium.KeyEscape)
	tab.AwaitGone("#release-dialog")
	tab.Await("the focus is back", `document.activeElement.id === "release"`)
	tab.Press(chromium.KeyEnter)
	tab.Press("stuck since noon")
	tabTo(tab, "#release-do")
	tab.Press(chromium.KeyEnter)
	tab.AwaitText("#release-answer", "1 entry was taken away")
	<-lock.Context().Done()
	tab.Press(chromium.KeyEnter) // Close has the focus
	tab.AwaitGone("#release-dialog")
	tab.Press(chromium.KeyEscape)
	tab.AwaitGone("#inspector")

	tabTo(tab, "#view-history")
	tab.Press(chromium.KeyEnter)
	tab.AwaitShown("#history")
	tabTo(tab, "#history-episodes")
	tab.Press(chromium.KeyArrowRight)
	tab.Await("the next tab has the focus, and is chosen", `document.activeElement.id === "history-routes" && document.activeElement.ariaSelected === "true"`)
}

// Updates leave the focus, the selection and the open nodes as they are.
func TestUpdatesDoNotDisturb(t *testing.T) {
	s := newSite(t, memstore.New(), nil)
	s.hold(request{note: "stays", claims: []pathlock.Claim{x("/m")}})
	tab := s.open()
	tab.Click("#nodes .node-row:nth-child(2)")
	tab.AwaitText("#inspector", "stays")
	chromium.Eval[bool](tab, `(window.before = document.activeElement).getAttribute("role") === "row"`)
	for _, path := range []string{"/a", "/z", "/m/n", "/b/c"} {
		if path == "/m/n" {
			s.wait(request{note: "at " + path, claims: []pathlock.Claim{x(path)}})
		} else {
			s.hold(request{note: "at " + path, claims: []pathlock.Claim{x(path)}})
		}
		tab.AwaitText("#nodes", "at "+path)
		tab.Await("the same row has the focus", `document.activeElement === window.before && window.before.ariaSelected === "true" && document.querySelector("#inspector h3").innerText.includes("stays")`)
	}
}
