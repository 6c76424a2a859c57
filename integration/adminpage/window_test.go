package adminpage

import (
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

// window is a tab with the page.
type window struct {
	*chromium.Tab
	t testing.TB
}

// Tidy fails the test if the page, as it is now, breaks a rule of those who hear it or see little,
// is wider than the window, or shows a character that nobody sees or that turns text around.
func (w *window) Tidy(what string) {
	w.CheckRules(what)
	for _, wrong := range chromium.Eval[[]string](w.Tab, `[document.documentElement.scrollWidth > innerWidth ? "it scrolls to the side" : "",
		...[...document.querySelectorAll("body *")].filter(e => e.checkVisibility() && !e.closest(".skip, svg, thead, .tree-name"))
			.filter(e => { const box = e.getBoundingClientRect(); return box.width > 0 && (box.right > innerWidth + 0.5 || box.left < -0.5); })
			.map(e => "out of the window: " + e.textContent.slice(0, 40)),
		...[document.title, document.body.innerText, ...[...document.querySelectorAll("[title], [aria-label]")].map(e => e.title + e.ariaLabel)]
			.flatMap(text => text.split("\n")).filter(text => /[\u202a-\u202e\u2066\u2067\u200b]/.test(text)).map(text => "unseen: " + text),
	].filter(Boolean)`) {
		w.t.Errorf("%s: %s", what, wrong)
	}
}

// Everywhere is Tidy in both languages, light and dark, on a desk and on a phone.
func (w *window) Everywhere(what string) {
	for _, language := range []string{"zh-CN", "en"} {
		w.Await(`!document.querySelector("dialog[open]")`)
		w.Click("#language")
		w.Await(`document.documentElement.lang === "` + language + `"`)
		w.Tidy(what + " in " + language)
	}
	w.Dark(true)
	w.Await(luminance + " < 0.2")
	w.Tidy(what + " in the dark")
	w.Phone()
	w.Tidy(what + " on a phone")
	w.Desktop()
	w.Dark(false)
}

// luminance is how light the page's ground is, 0 for black.
const luminance = `getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).slice(0, 3).reduce((sum, c) => sum + Number(c), 0) / 765`

// Rows waits until the rows are of these, in order.
func (w *window) Rows(notes ...string) {
	w.Await(`JSON.stringify([...document.querySelectorAll(".rows .who")].map(e => e.innerText)) === JSON.stringify(` + chromium.Quote(notes) + ")")
}

// Ask opens a row's dialog to release it, and says why.
func (w *window) Ask(row string) {
	w.Click(row + " summary")
	w.Click(row + " .danger")
	w.Fill("#release-reason", "stuck for an hour")
}
