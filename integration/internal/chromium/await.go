package chromium

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/chromedp/chromedp"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// Eval returns what a JavaScript expression gives, by way of JSON. A promise is awaited.
func Eval[T any](tab *Tab, expression string) T {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	testerr.MustBe(tab.t, expression, err, nil)
	return value
}

// looking is a promise that is kept once an expression is true. The expression is tried whenever
// the document changes. Focus, scrolling, layout and variables change without that, so a clock
// ticks as well.
const looking = `new Promise((found, broken) => {
	let seen, clock;
	const look = () => {
		let value;
		try { value = (%s); } catch (error) { end(); broken(error); return true; }
		if (value) { end(); found(true); }
		return !!value;
	};
	const end = () => { seen?.disconnect(); clearInterval(clock); };
	if (look()) return;
	seen = new MutationObserver(look);
	seen.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
	clock = setInterval(look, 20);
})`

// Await returns when a JavaScript expression is true, even if the page loads anew meanwhile.
func (tab *Tab) Await(expression string) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	for {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](fmt.Sprintf(looking, expression), chromedp.EvalAwaitPromise))
		switch {
		case err == nil:
			return
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			tab.t.Fatalf("still not so after %v: %s", patience, expression)
		case !leftPage(err):
			tab.t.Fatalf("%s: %v", expression, err)
		}
	}
}

// leftPage reports whether an expression had no answer because its page was left.
func leftPage(err error) bool {
	for _, text := range []string{"Execution context was destroyed", "Inspected target navigated or closed",
		"Cannot find default execution context", "Promise was collected", "Cannot find context with specified id"} {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}

// Text returns when the first element that matches a CSS selector shows a text.
func (tab *Tab) Text(selector, text string) {
	tab.t.Helper()
	tab.Await(fmt.Sprintf("document.querySelector(%s)?.innerText?.includes(%s)", Quote(selector), Quote(text)))
}

// Is returns when the first element that matches a CSS selector has a text, and no other.
func (tab *Tab) Is(selector, text string) {
	tab.t.Helper()
	tab.Await(fmt.Sprintf("document.querySelector(%s)?.textContent === %s", Quote(selector), Quote(text)))
}

// Shown returns when an element that matches a CSS selector is visible.
func (tab *Tab) Shown(selector string) {
	tab.t.Helper()
	tab.Await(fmt.Sprintf("[...document.querySelectorAll(%s)].some(e => e.checkVisibility())", Quote(selector)))
}

// Gone returns when no element that matches a CSS selector is visible.
func (tab *Tab) Gone(selector string) {
	tab.t.Helper()
	tab.Await(fmt.Sprintf("![...document.querySelectorAll(%s)].some(e => e.checkVisibility())", Quote(selector)))
}

// Check fails the test for each text of the list that a JavaScript expression, or its promise,
// gives.
func (tab *Tab) Check(expression string) {
	tab.t.Helper()
	for _, wrong := range Eval[[]string](tab, expression) {
		tab.t.Error(wrong)
	}
}

// Quote returns a text, or several, as JavaScript.
func Quote[T string | []string](text T) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // strings have no error
	}
	return string(quoted)
}
