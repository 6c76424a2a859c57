package samplepage

import (
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

// back goes back, as the button of the browser or of a phone does, to another entry of the page.
func (w window) back() {
	w.T().Helper()
	chromium.Eval[bool](w.Tab, `new Promise((there) => { addEventListener("popstate", () => there(true), { once: true }); history.back(); })`)
}

// On a phone, Back closes what was opened last, and leaves the page only when nothing is open. What
// was typed at length stays.
func TestBack_ClosesWhatIsOpen(t *testing.T) {
	a := alone(t)
	w := bench(t, a, nil, "a", "b")
	one := w.here
	one.Resize(chromium.PhoneWidth, chromium.PhoneHeight)
	one.choose(w.ids["a"])
	one.AwaitShown("#detail h1")
	one.do("rename")
	one.AwaitShown("dialog[open]")
	one.back()
	one.AwaitGone("dialog")
	one.AwaitText("#detail h1", "a")
	one.Fill(".add input", "case")
	one.Press(chromium.KeyEnter)
	one.Click(caseHead)
	one.do("edit-case")
	one.Fill("textarea", "half a sentence")
	one.back()
	one.Await("the text is still there", `history.state?.onTop && document.querySelector("textarea")?.value === "half a sentence"`)
	one.Click("dialog .dialog-foot button")
	one.AwaitGone("dialog")
	one.back()
	one.AwaitShown("#tree .row")
	one.Await("the suite is still the chosen one", fmt.Sprintf(`location.hash.endsWith("/suite/%d")`, w.ids["a"]))
	// What was closed otherwise takes no Back.
	one.choose(w.ids["b"])
	one.Click(".back")
	one.AwaitShown("#tree .row")
	one.Await("Back", `(history.back(), true)`)
	one.Await("the page is left", `location.href === "about:blank"`)
}
