package chromium

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

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

// Await returns when a JavaScript expression is true, even if the page loads anew meanwhile. What
// describes it, for the failure.
func (tab *Tab) Await(what, expression string) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	for {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](fmt.Sprintf(looking, expression), chromedp.EvalAwaitPromise))
		switch {
		case err == nil:
			return
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			tab.t.Fatalf("still not so after %v: %s", patience, what)
		case !leftPage(err):
			tab.t.Fatalf("%s: %v", what, err)
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

// AwaitText returns when the first element that matches a CSS selector shows a text.
func (tab *Tab) AwaitText(selector, text string) {
	tab.t.Helper()
	tab.Await(selector+" shows "+text, fmt.Sprintf("document.querySelector(%s)?.innerText?.includes(%s)", Quote(selector), Quote(text)))
}

// AwaitShown returns when an element that matches a CSS selector is visible.
func (tab *Tab) AwaitShown(selector string) {
	tab.t.Helper()
	tab.Await(selector+" is shown", fmt.Sprintf("[...document.querySelectorAll(%s)].some(e => e.checkVisibility())", Quote(selector)))
}

// AwaitGone returns when no element that matches a CSS selector is visible.
func (tab *Tab) AwaitGone(selector string) {
	tab.t.Helper()
	tab.Await(selector+" is gone", fmt.Sprintf("![...document.querySelectorAll(%s)].some(e => e.checkVisibility())", Quote(selector)))
}

// Count returns how many elements match a CSS selector, shown or not.
func (tab *Tab) Count(selector string) int {
	tab.t.Helper()
	return Eval[int](tab, fmt.Sprintf("document.querySelectorAll(%s).length", Quote(selector)))
}

// Quote returns a text, or several, as JavaScript.
func Quote[T string | []string](text T) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // strings have no error
	}
	return string(quoted)
}

// T returns the test of the tab.
func (tab *Tab) T() testing.TB { return tab.t }
