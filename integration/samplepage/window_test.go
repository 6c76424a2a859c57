package samplepage

import (
	"fmt"
	"regexp"

	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

// window is a person's window on the page.
type window struct{ *chromium.Tab }

// deletedMeanwhile is what the browser says of a plan, or of a suite's cases, that the page asks
// for and that has been deleted: so the page learns it.
var deletedMeanwhile = regexp.MustCompile(`404 \(Not Found\) .*/api/(suites/\d+/cases|plans/\d+/locks)$`)

// open opens a window of a person of their own, and waits until it is up to date by itself.
func open(a *app, address string) window {
	a.Helper()
	w := window{browser.Open(a.T, address)}
	w.AllowMatching(deletedMeanwhile)
	w.AwaitShown("#tree .row")
	w.Await("the window is live", `document.querySelector("#live").dataset.state === "live"`)
	return w
}

// known gives the person a name, as if they had been asked before.
func (w window) known(name string) window {
	w.T().Helper()
	w.Await("a name is kept", fmt.Sprintf(`localStorage.setItem("pathlock.name", JSON.stringify(%s)) === undefined`, chromium.Quote(name)))
	return w
}

// overhear has the window keep the tokens of the locks that it takes.
func (w window) overhear() {
	w.T().Helper()
	w.Await("answers are overheard", `(globalThis.fetch = (fetch => async (...asked) => {
		const answer = await fetch(...asked);
		answer.clone().json().then(({ token }) => { if (token) globalThis.overheard = token; }, () => {});
		return answer;
	})(fetch), true)`)
}

// token is the token of the last lock that was overheard.
func (w window) token() string {
	w.T().Helper()
	w.Await("a token is overheard", `globalThis.overheard`)
	return chromium.Eval[string](w.Tab, `globalThis.overheard`)
}

// row is the selector of a suite's row.
func row(id int64) string { return fmt.Sprintf("#suite-%d", id) }

// shows waits for a row with a name.
func (w window) shows(id int64, name string) {
	w.T().Helper()
	w.Await("a row shows "+name, fmt.Sprintf(`document.querySelector(%s)?.querySelector(".name").textContent === %s`, chromium.Quote(row(id)), chromium.Quote(name)))
}

// lists waits until the rows in sight have names, in order.
func (w window) lists(names ...string) {
	w.T().Helper()
	w.Await(fmt.Sprintf("the rows are %q", names), fmt.Sprintf(
		`JSON.stringify([...document.querySelectorAll("#tree .row")].sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top).map(r => r.querySelector(".name").textContent)) === JSON.stringify(%s)`,
		chromium.Quote(names)))
}

// choose clicks a suite's row.
func (w window) choose(id int64) {
	w.T().Helper()
	w.Click(row(id) + " .name")
	w.Await("the suite is chosen", fmt.Sprintf(`document.querySelector(%q)?.ariaSelected === "true"`, row(id)))
}

// do clicks a button of the chosen suite, or of an open case.
func (w window) do(what string) {
	w.T().Helper()
	w.Click(fmt.Sprintf("[data-do=%q]", what))
}

// answer fills in the field of the dialog, and agrees.
func (w window) answer(text string) {
	w.T().Helper()
	w.Fill("dialog input", text)
	w.Press(chromium.KeyEnter)
	w.AwaitGone("dialog")
}

// locked waits until a row shows who holds it.
func (w window) locked(id int64, kind, words string) {
	w.T().Helper()
	w.Await(fmt.Sprintf("%s is %s: %s", row(id), kind, words), fmt.Sprintf(
		`(r => r?.dataset.lock === %s && r.querySelector(".chip").textContent.includes(%s))(document.querySelector(%s))`,
		chromium.Quote(kind), chromium.Quote(words), chromium.Quote(row(id))))
}

// free waits until a row shows no lock.
func (w window) free(id int64) {
	w.T().Helper()
	w.Await(row(id)+" is free", fmt.Sprintf(`(r => r && !r.dataset.lock)(document.querySelector(%q))`, row(id)))
}

// refused waits for the card of a refused action.
func (w window) refused(words string) {
	w.T().Helper()
	w.Await("a card says "+words, fmt.Sprintf(`[...document.querySelectorAll(".notice.bad")].some(card => card.textContent.includes(%s))`, chromium.Quote(words)))
}

// card clicks a button of the card that waits or was refused.
func (w window) card(label string) {
	w.T().Helper()
	w.Await("a card has a button "+label, fmt.Sprintf(
		`(b => b && (b.id = "the-button"))([...document.querySelectorAll(".notice button")].find(b => (b.ariaLabel ?? b.textContent) === %s))`, chromium.Quote(label)))
	w.Click("#the-button")
}
