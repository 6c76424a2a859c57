package samplepage

import (
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

// A newcomer makes the demo plan by a click, in English or in Chinese.
func TestANewcomerBeginsWithTheDemo(t *testing.T) {
	a := alone(t)
	w := window{browser.Open(t, a.url)}
	w.AwaitText("#welcome h1", "A tree that many people change at once")
	w.do("demo")
	w.AwaitText("#plan-name", "demo / Web shop")
	w.AwaitText("#tree-foot", "16 suites")
	w.Await("the window is live", `document.querySelector("#live").dataset.state === "live"`)
	first := plan{ID: 1}
	a.sound(first)
	w.Fill("#filter", "passw")
	w.lists("Web shop", "Sign-in", "Password")
	w.choose(a.ids(first)["Sign-in/Password"])
	w.AwaitText(".case-list", "wrong password")
	w.AwaitText(".case-list", "1. Open the sign-in page")
}

// workbench is two people's windows on a plan.
type workbench struct {
	*app
	here, there window
	plan        plan
	ids         map[string]int64
}

// bench opens two windows of two people on a plan with suites.
func bench(t *testing.T, a, b *app, paths ...string) *workbench {
	t.Helper()
	p, ids := a.planOf(paths...)
	w := &workbench{app: a, plan: p, ids: ids}
	w.here, w.there = open(a, a.address(p)).known("Anna"), open(b, b.address(p)).known("Ben")
	t.Cleanup(func() { a.sound(w.plan) })
	return w
}

// known reads the ids of the suites again.
func (w *workbench) known() { w.ids = w.app.ids(w.plan) }

func TestASuiteIsCreated(t *testing.T) {
	a := alone(t)
	w := bench(t, a, a, "a")
	w.here.choose(w.ids["a"])
	w.here.Click("#new-suite")
	w.here.answer("b")
	w.here.lists(planName(w), "a", "b")
	w.there.lists(planName(w), "a", "b")
	w.known()
	w.here.level(w.ids["a/b"], 3)
	w.there.level(w.ids["a/b"], 3)
}

// planName is the name of the plan, which the root's row shows.
func planName(w *workbench) string {
	return chromium.Eval[string](w.here.Tab, `document.querySelector("#tree [aria-level='1'] .name").textContent`)
}

func TestASuiteIsRenamed(t *testing.T) {
	a := alone(t)
	w := bench(t, a, a, "a/b")
	w.here.DoubleClick(row(w.ids["a/b"]) + " .name")
	w.here.Press("by a double click" + chromium.KeyEnter)
	w.there.shows(w.ids["a/b"], "by a double click")
	w.here.shows(w.ids["a/b"], "by a double click")
	w.here.do("rename")
	w.here.Press("in the title" + chromium.KeyEnter)
	w.there.shows(w.ids["a/b"], "in the title")
	w.here.AwaitText("#detail h1", "in the title")
	// A name that is left again changes nothing.
	w.here.do("rename")
	w.here.Press("never" + chromium.KeyEscape)
	w.here.AwaitText("#detail h1", "in the title")
	// A name that cannot be one is refused before it is sent.
	w.here.do("rename")
	w.here.Press("a/b" + chromium.KeyEnter)
	w.here.refused("no slash")
	w.here.shows(w.ids["a/b"], "in the title")
	w.here.Await("what was typed is there to be mended", `document.querySelector("#detail h1 input").value === "a/b"`)
	w.here.Fill("#detail h1 input", "mended"+chromium.KeyEnter)
	w.there.shows(w.ids["a/b"], "mended")
	w.here.DoubleClick(row(w.ids["a/b"]) + " .name")
	w.here.Press(".." + chromium.KeyEnter)
	w.here.refused("no slash")
	w.here.Fill("#detail h1 input", "mended again"+chromium.KeyEnter)
	w.there.shows(w.ids["a/b"], "mended again")
}

func TestASuiteIsMovedAndCopiedByADialog(t *testing.T) {
	a := alone(t)
	w := bench(t, a, a, "a/b/c", "d/e")
	w.here.choose(w.ids["a/b"])
	w.here.do("move")
	w.here.answer("/d/e")
	w.there.level(w.ids["a/b"], 4)
	w.here.AwaitText(".trail", "e")
	w.here.do("copy")
	w.here.Fill(`dialog input[type="text"]`, "a copy")
	w.here.Fill(`dialog input[type="search"]`, "/a")
	w.here.Press(chromium.KeyEnter)
	w.here.lists(planName(w), "a", "a copy", "d", "e", "b", "c")
	w.there.lists(planName(w), "a", "a copy", "d", "e", "b", "c")
}

func TestWhatIsDeletedComesBack(t *testing.T) {
	a := alone(t)
	w := bench(t, a, a, "a/b", "c", "d")
	w.here.choose(w.ids["a"])
	w.here.do("remove")
	w.there.lists(planName(w), "c", "d")
	w.here.card("Undo")
	w.there.lists(planName(w), "a", "b", "c", "d")
	w.here.lists(planName(w), "a", "b", "c", "d")
	for _, path := range []string{"c", "d"} {
		w.here.choose(w.ids[path])
		w.here.do("remove")
		w.there.AwaitGone(row(w.ids[path]))
	}
	// The bin of the other window has both, and shows what this one takes out.
	w.there.Click("#bin-button")
	w.there.Await("the bin has two entries", `document.querySelectorAll(".bin-list li").length === 2`)
	w.here.Click("#bin-button")
	w.here.Click(".bin-list li:first-child button")
	w.there.Await("the bin has one entry", `document.querySelectorAll(".bin-list li").length === 1`)
	w.there.Click("dialog .dialog-foot .danger")
	w.there.Click("dialog[aria-label*='for good'] .danger")
	w.here.AwaitText("dialog", "The recycle bin is empty.")
	w.here.Press(chromium.KeyEscape)
	w.there.Press(chromium.KeyEscape)
	w.here.lists(planName(w), "a", "b", "d")
	w.there.lists(planName(w), "a", "b", "d")
}

func TestPlansAreMadeRenamedAndDeleted(t *testing.T) {
	a := alone(t)
	w := bench(t, a, a, "a")
	w.here.Click("#plan-button")
	w.here.Fill(`dialog .card input[aria-label="Name"]`, "Release 7")
	w.here.do("create-plan")
	w.here.AwaitText("#plan-name", "demo / Release 7")
	w.here.lists("Release 7")
	w.here.Click("#plan-button")
	w.here.AwaitText(".plan-list", "Release 7")
	w.here.Click(".plan-line:has([aria-current]) [title='Rename the plan']")
	w.here.Fill("dialog[aria-label='Rename the plan'] input", "Release 8")
	w.here.Press(chromium.KeyEnter)
	w.here.AwaitText(".plan-list", "Release 8")
	// The plan that the other window shows is deleted here.
	w.here.Click(".plan-line:not(:has([aria-current])) .sign-bin")
	w.here.Click("dialog[aria-label*='for good'] .danger")
	w.there.AwaitText("#notices", "Somebody has deleted this plan.")
	w.there.AwaitShown("#welcome")
	w.here.AwaitText("#plan-name", "Release 8")
	w.plan = ask[struct{ Plans []plan }](a, "GET", "/api/projects/demo/plans", nil).Plans[0]
}

// An address whose plan or suite has been deleted leads to no other one without a word.
func TestAnAddressOfWhatIsGone(t *testing.T) {
	a := alone(t)
	w := bench(t, a, a, "a/b")
	w.here.choose(w.ids["a/b"])
	gone := fmt.Sprintf("#plan/%d/suite/999999", w.plan.ID)
	w.here.Await("the address names a suite that is gone", fmt.Sprintf(`(location.hash = %q, true)`, gone))
	w.here.refused("What the address names is not there")
	w.here.Await("the choice stays, and the address says so", fmt.Sprintf(`location.hash === "#plan/%d/suite/%d"`, w.plan.ID, w.ids["a/b"]))
	fresh := window{browser.Open(t, a.url+gone)}
	fresh.refused("What the address names is not there")
	fresh.lists(planName(w), "a", "b")
	other := window{browser.Open(t, a.url+"#plan/999999")}
	other.Allow("404")
	other.AwaitShown("#welcome")
	other.refused("What the address names is not there")
}

// Only Enter sends a new name: somebody who turns to something else has not finished it.
func TestAHalfTypedNameIsNotSent(t *testing.T) {
	a := alone(t)
	w := bench(t, a, a, "a", "b")
	w.here.DoubleClick(row(w.ids["a"]) + " .name")
	w.here.Press("hal")
	w.here.choose(w.ids["b"])
	w.here.shows(w.ids["a"], "a")
	w.here.choose(w.ids["a"])
	w.here.do("rename")
	w.here.Press("hal")
	w.here.Click("#filter")
	w.here.AwaitText("#detail h1", "a")
	w.here.choose(w.ids["b"])
	w.here.do("rename")
	w.here.Press("whole" + chromium.KeyEnter)
	w.there.shows(w.ids["b"], "whole")
	w.there.shows(w.ids["a"], "a")
}

// A restoration that is refused says which of both is missing: the suite above, or what was
// deleted. The message covers no button of the dialog.
func TestARestorationSaysWhatIsMissing(t *testing.T) {
	a := alone(t)
	w := bench(t, a, a, "a/b", "c")
	ask[object](a, "DELETE", fmt.Sprintf("/api/suites/%d", w.ids["a/b"]), nil)
	ask[object](a, "DELETE", fmt.Sprintf("/api/suites/%d", w.ids["a"]), nil)
	w.here.Allow("404")
	w.here.AwaitGone(row(w.ids["a"]))
	w.here.Resize(chromium.PhoneWidth, chromium.PhoneHeight)
	w.here.Click("#bin-button")
	w.here.AwaitText(".bin-list li:nth-child(2)", "b")
	w.here.AwaitText(".bin-list li:nth-child(2)", "1 suite, 0 cases")
	w.here.Click(".bin-list li:nth-child(2) button")
	w.here.refused("The suite that it was in has been deleted as well. Restore that first.")
	w.here.Await("nothing is covered", `(notice => [...document.querySelectorAll("dialog button")].filter(b => !b.closest(".notices")).every(b => {
		const one = b.getBoundingClientRect(), two = notice.getBoundingClientRect();
		return one.bottom <= two.top || one.top >= two.bottom || one.right <= two.left || one.left >= two.right;
	}))(document.querySelector("dialog .notice"))`)
	w.here.Press(chromium.KeyEscape)
	w.here.AwaitGone("dialog")
	w.there.Await("messages stay", `(globalThis.setTimeout = (later => (run, ms) => ms === 5000 ? 0 : later(run, ms))(setTimeout), true)`)
	w.there.choose(w.ids["c"])
	w.there.do("remove")
	w.there.AwaitText("#notices", "“c” is in the recycle bin.")
	ask[object](a, "DELETE", fmt.Sprintf("/api/plans/%d/recycle-bin", w.plan.ID), nil)
	w.there.card("Undo")
	w.there.refused("It is not in the recycle bin any more")
}
