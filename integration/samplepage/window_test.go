package samplepage

import (
	"fmt"
	"regexp"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

// window is a person's window on the page.
type window struct {
	*chromium.Tab
	s *transcript
}

// deletedMeanwhile is what the browser says of a plan, or of a suite's cases, that the page asks
// for and that has been deleted: so the page learns it.
var deletedMeanwhile = regexp.MustCompile(`404 \(Not Found\) .*/api/(suites/\d+/cases|plans/\d+/locks)$`)

// open opens a window of a person of their own. Where there is a plan, it waits until the window is
// up to date by itself.
func (s *transcript) open(_ *testscript.TestScript, args []string) {
	if s.here == "" {
		s.here = s.serve()
		s.there = s.here
	}
	url := map[bool]string{true: s.here, false: s.there}[args[0] == "here"]
	if id := s.ids["plan"]; id != 0 {
		url += fmt.Sprintf("/#plan/%d", id)
	}
	w := &window{browser.Open(s.TB, url), s}
	s.windows[args[0]] = w
	w.AllowMatching(deletedMeanwhile)
	if s.ids["plan"] != 0 {
		w.Shown("#tree .row")
		w.State("live")
	}
	for _, name := range args[1:] {
		w.Known(name)
	}
}

func (s *transcript) beside(_ *testscript.TestScript, args []string) {
	w := &window{s.windows[args[1]].Tab.Beside(fmt.Sprintf("%s/#plan/%d", s.here, s.ids["plan"])), s}
	w.Shown("#tree .row")
	s.windows[args[0]] = w
}

// Known gives the person a name, as if they had been asked before.
func (w *window) Known(name string) {
	w.Await(fmt.Sprintf(`localStorage.setItem("pathlock.name", JSON.stringify(%s)) === undefined`, chromium.Quote(name)))
}

// State waits until the window's connection is in a state.
func (w *window) State(state string) {
	w.Await(fmt.Sprintf(`document.querySelector("#live").dataset.state === %q`, state))
}

// Meddle has the window's requests go through a function of JavaScript.
func (w *window) Meddle(function string) {
	w.Await(fmt.Sprintf(`(globalThis.fetch = (fetch => (path, options) => (%s)(fetch, path, options))(fetch), true)`, function))
}

// Overhear has the window keep the tokens of the locks that it takes.
func (w *window) Overhear() {
	w.Await(`(globalThis.fetch = (fetch => async (...asked) => {
		const answer = await fetch(...asked);
		answer.clone().json().then(({ token }) => { if (token) globalThis.overheard = token; }, () => {});
		return answer;
	})(fetch), true)`)
}

// Token tells the token of the last lock that was overheard.
func (w *window) Token() {
	w.Await(`globalThis.overheard`)
	w.s.token = chromium.Eval[string](w.Tab, `globalThis.overheard`)
}

// row is the row of a suite, as JavaScript.
func (w *window) row(path string) string {
	return fmt.Sprintf(`document.querySelector("#suite-%d")`, w.s.ids[path])
}

// Shows waits for a row with a name.
func (w *window) Shows(path, name string) {
	w.Await(fmt.Sprintf(`%s?.querySelector(".name").textContent === %s`, w.row(path), chromium.Quote(name)))
}

// Names waits until the rows in sight have names, in order.
func (w *window) Names(names ...string) {
	w.Await(fmt.Sprintf(
		`JSON.stringify([...document.querySelectorAll("#tree .row")].sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top).map(r => r.querySelector(".name").textContent)) === JSON.stringify(%s)`,
		chromium.Quote(names)))
}

// Choose clicks a suite's row.
func (w *window) Choose(path string) {
	w.Click(fmt.Sprintf("#suite-%d .name", w.s.ids[path]))
	w.Await(w.row(path) + `?.ariaSelected === "true"`)
}

// Do clicks a button of the chosen suite, or of an open case.
func (w *window) Do(what string) { w.Click(fmt.Sprintf("[data-do=%q]", what)) }

// Answer fills in the field of the dialog, and agrees.
func (w *window) Answer(text string) {
	w.Fill("dialog input", text)
	w.Press("Enter")
	w.Gone("dialog")
}

// Draft makes a case of suite a, and opens its editor.
func (w *window) Draft() {
	w.Choose("a")
	w.Fill(".add input", "case")
	w.Press("Enter")
	w.Click(".case-list li:nth-child(1) .case-head")
	w.Do("edit-case")
	w.Shown("textarea")
}

// Locked waits until a row shows who holds it.
func (w *window) Locked(path, kind, words string) {
	w.Await(fmt.Sprintf(`(r => r?.dataset.lock === %q && r.querySelector(".chip").textContent.includes(%s))(%s)`, kind, chromium.Quote(words), w.row(path)))
}

// Free waits until a row shows no lock.
func (w *window) Free(path string) { w.Await(`(r => r && !r.dataset.lock)(` + w.row(path) + `)`) }

// Refused waits for the card of a refused action.
func (w *window) Refused(words string) {
	w.Await(fmt.Sprintf(`[...document.querySelectorAll(".notice.bad")].some(card => card.textContent.includes(%s))`, chromium.Quote(words)))
}

// Card clicks a button of the card that waits or was refused.
func (w *window) Card(label string) {
	w.ClickOne(fmt.Sprintf(
		`[...document.querySelectorAll(".notice button")].filter(b => (b.ariaLabel ?? b.textContent) === %s)`, chromium.Quote(label)))
}

// Asks requires that the window asks before it is left, or does not.
func (w *window) Asks(whether string) {
	w.Await(`!dispatchEvent(new Event("beforeunload", { cancelable: true })) === ` + whether)
}

// Focused waits until the tree has the focus, on a suite with a name, and no dialog is open.
func (w *window) Focused(name string) {
	w.Await(fmt.Sprintf(`document.activeElement.id === "tree" && !document.querySelector("dialog") &&
		document.getElementById(document.activeElement.getAttribute("aria-activedescendant")).querySelector(".name").textContent === %s`, chromium.Quote(name)))
}

// Back goes back, as the button of the browser or of a phone does, to another entry of the page.
func (w *window) Back() {
	chromium.Eval[bool](w.Tab, `new Promise((there) => { addEventListener("popstate", () => there(true), { once: true }); history.back(); })`)
}
