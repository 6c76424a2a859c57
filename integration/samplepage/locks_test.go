package samplepage

import (
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

func refusedAndRetried(w *workbench) {
	w.Helper()
	w.here.choose(w.ids["a"])
	w.here.do("edit")
	w.here.locked(w.ids["a"], "mine", "You are editing")
	w.there.locked(w.ids["a"], "theirs", "Anna is editing")
	w.there.locked(w.ids["a/b"], "below", "")
	w.there.choose(w.ids["a"])
	w.there.AwaitText(".lock-card", "Anna is editing")
	w.there.AwaitText(".lock-card", "Since ")
	// The holder works on.
	w.here.do("rename")
	w.here.Press("mine" + chromium.KeyEnter)
	w.there.shows(w.ids["a"], "mine")
	// The other is refused, and told why.
	w.there.Allow("423")
	w.there.choose(w.ids["a/b"])
	w.there.do("rename")
	w.there.Press("theirs" + chromium.KeyEnter)
	w.there.refused("Rename “b” to “theirs”")
	w.there.refused("Anna is editing")
	w.there.refused("since ")
	w.there.shows(w.ids["a/b"], "b") // the new name was shown while it was under way, and is taken back
	w.here.do("done")
	w.there.free(w.ids["a"])
	w.there.card("Try again")
	w.here.shows(w.ids["a/b"], "theirs")
	w.there.AwaitGone(".notice.bad")
}

// Who edits inside a suite is named beside the suite, and where a change of it is refused.
func waitsItsTurn(w *workbench) {
	w.Helper()
	w.there.choose(w.ids["a"])
	w.there.AwaitText(".lock-card", "Nobody is editing here")
	w.here.choose(w.ids["a/b"])
	w.here.do("edit")
	w.there.locked(w.ids["a/b"], "theirs", "Anna is editing")
	w.there.AwaitText(".lock-card", "“b”, in this suite, is locked: Anna is editing")
	w.there.Allow("423")
	w.there.do("remove")
	w.there.refused("Anna is editing. “/a” is locked since")
	w.there.card("Wait until it is free")
	w.there.AwaitText(".notice.wait", "Stop waiting")
	// Changes elsewhere wake it, and do not let it through.
	ask[suite](w.app, "PATCH", fmt.Sprintf("/api/suites/%d", w.ids["c"]), object{"name": "d"})
	w.there.shows(w.ids["c"], "d")
	w.there.AwaitShown(row(w.ids["a"]))
	w.here.do("done")
	w.there.AwaitGone(row(w.ids["a"]))
	w.here.AwaitGone(row(w.ids["a"]))
	w.there.AwaitText(".notice.good", "“a” is in the recycle bin.")
}

// The name that others see is asked for once.
func TestOwnName_isAskedForOnce(t *testing.T) {
	a := alone(t)
	p, ids := a.planOf("a", "b")
	w, other := open(a, a.address(p)), open(a, a.address(p))
	w.choose(ids["a"])
	w.do("edit")
	w.AwaitText("dialog", "What should others call you?")
	w.answer("Zoë <3")
	w.locked(ids["a"], "mine", "You are editing")
	w.AwaitText("#me", "Zoë <3")
	other.locked(ids["a"], "theirs", "Zoë <3 is editing")
	w.choose(ids["b"])
	w.do("edit") // the window has one edit lock at a time
	w.locked(ids["b"], "mine", "You are editing")
	other.free(ids["a"])
	other.locked(ids["b"], "theirs", "Zoë <3 is editing")
}

// A lock outlives a reload of its window, and not its end.
func TestEditLock_livesAsLongAsItsWindow(t *testing.T) {
	a := alone(t)
	w := bench(t, a, a, "a")
	second := window{w.here.Beside(a.address(w.plan))}
	second.AwaitShown("#tree .row")
	second.choose(w.ids["a"])
	second.overhear()
	second.do("edit")
	w.there.locked(w.ids["a"], "theirs", "Anna is editing")
	token := second.token()
	second.Reload()
	second.locked(w.ids["a"], "mine", "You are editing")
	w.there.locked(w.ids["a"], "theirs", "Anna is editing")
	second.Navigate("about:blank") // the window leaves
	w.there.free(w.ids["a"])
	if status, _ := a.try("PATCH", fmt.Sprintf("/api/suites/%d", w.ids["a"]), object{"name": "x"}, token); status != 409 {
		t.Errorf("the token of a window that has gone gets %d", status)
	}
}

// A lock that an operator takes away is missed at once. What was being written can still be saved,
// unless somebody else has changed it meanwhile: then both texts are there to choose from.
func TestEditLock_lossIsToldAndOvercome(t *testing.T) {
	a := alone(t)
	w := bench(t, a, a, "a")
	c := ask[struct{ ID int64 }](a, "POST", fmt.Sprintf("/api/suites/%d/cases", w.ids["a"]), object{"name": "case", "body": "as it was"})
	address := fmt.Sprintf("/api/cases/%d", c.ID)
	w.here.choose(w.ids["a"])
	w.here.Allow("409")
	lose := func() {
		t.Helper()
		w.here.locked(w.ids["a"], "mine", "You are editing")
		if status, text := a.try("DELETE", fmt.Sprintf("/api/suites/%d/lock", w.ids["a"]), nil, w.here.token()); status != 204 {
			t.Fatalf("%d %s", status, text)
		}
		w.here.refused("Your edit lock has ended")
		w.here.refused("or an operator has released it")
		w.here.free(w.ids["a"])
	}
	w.here.Click(caseHead)
	w.here.overhear()
	w.here.do("edit-case")
	w.here.Fill("textarea", "mine")
	lose()
	ask[object](a, "PATCH", address, object{"body": "theirs"})
	w.here.Click("dialog .primary")
	w.here.refused("Somebody has changed it meanwhile. It says now: “case\ntheirs”.")
	w.here.Await("what was written is there", `document.querySelector("textarea").value === "mine"`)
	w.here.Click("dialog .primary")
	w.here.AwaitGone("dialog")
	w.there.choose(w.ids["a"])
	w.there.AwaitText(".case-list", "mine")
	// The message is about what is over by then.
	w.here.card("Edit")
	w.here.locked(w.ids["a"], "mine", "You are editing")
	w.here.Await("no message is left", `!document.querySelector(".notice.bad")`)
	lose()
}

// The page keeps the rules for those who hear it or see little, in its states and on a phone.
func TestAccessibility_rulesAreKept(t *testing.T) {
	a := alone(t)
	w := bench(t, a, nil, "a/b/c", "d")
	check := func(what string) {
		t.Helper()
		for _, language := range []string{"English", "Chinese"} {
			w.here.CheckRules(what + ", " + language)
			w.here.Click("#language")
		}
	}
	w.here.CheckRules("the tree")
	w.here.choose(w.ids["a/b"])
	w.here.do("edit")
	w.here.locked(w.ids["a/b"], "mine", "You are editing")
	check("a suite")
	w.here.Click("#plan-button")
	w.here.AwaitShown("dialog[open]")
	w.here.CheckRules("the plans")
	w.here.Press(chromium.KeyEscape)
	w.here.AwaitGone("dialog[open]")
	w.here.Resize(chromium.PhoneWidth, chromium.PhoneHeight)
	check("a suite on a phone")
	w.here.Click(".back")
	w.here.AwaitShown("#tree .row")
	check("the tree on a phone")
}
