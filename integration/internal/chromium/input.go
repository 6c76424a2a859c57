package chromium

import (
	"cmp"
	"fmt"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// keys are the keys that have no character, by their names.
var keys = map[string]string{
	"Tab": kb.Tab, "Enter": kb.Enter, "Escape": kb.Escape, "Home": kb.Home, "End": kb.End,
	"ArrowDown": kb.ArrowDown, "ArrowLeft": kb.ArrowLeft, "ArrowRight": kb.ArrowRight,
}

// hittable finds the centre of the first shown element of a list, scrolled into view. It is null
// while there is none, or while another one would get the click. It is a function of its own so
// that a page that redraws between two looks is only looked at as a whole.
const hittable = `(() => {
	for (const element of %s) {
		if (!element.checkVisibility({ visibilityProperty: true }) || element.disabled) continue;
		element.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
		for (const box of element.getClientRects()) {
			const x = box.left + box.width / 2, y = box.top + box.height / 2;
			const hit = document.elementFromPoint(x, y);
			if (hit && (element.contains(hit) || hit.closest("label")?.control === element)) return { x, y };
		}
	}
	return null;
})()`

// point is a place in the window.
type point struct{ X, Y float64 }

// place returns where a click hits the first shown element of a JavaScript list, once it does.
func (tab *Tab) place(elements string) point {
	tab.t.Helper()
	expression := fmt.Sprintf(hittable, elements)
	for {
		tab.Await(expression)
		if at := Eval[*point](tab, expression); at != nil {
			return *at
		}
	}
}

// Click clicks the first shown element that matches a CSS selector, once that is possible.
func (tab *Tab) Click(selector string) {
	tab.t.Helper()
	tab.ClickOne(matching(selector))
}

// ClickOne clicks the first shown element of a JavaScript list, once that is possible. The list is
// looked up together with the place of the click, since a page may redraw between two looks.
func (tab *Tab) ClickOne(elements string) {
	tab.t.Helper()
	tab.press(elements)
	tab.Up()
}

// Down is the first half of Click: it presses the button of the mouse.
func (tab *Tab) Down(selector string) {
	tab.t.Helper()
	tab.press(matching(selector))
}

func (tab *Tab) press(elements string) {
	tab.t.Helper()
	tab.clicked = tab.place(elements)
	tab.mouse(chromedp.MousePressed)
}

// matching is the list of the elements that match a CSS selector.
func matching(selector string) string {
	return fmt.Sprintf("document.querySelectorAll(%s)", Quote(selector))
}

// Up is the second half of Click: it lets the button go where it was pressed.
func (tab *Tab) Up() {
	tab.t.Helper()
	tab.mouse(chromedp.MouseReleased)
}

func (tab *Tab) mouse(event input.DispatchMouseEventType) {
	tab.t.Helper()
	tab.run(chromedp.MouseEvent(event, tab.clicked.X, tab.clicked.Y, chromedp.Button("left"), chromedp.ClickCount(1)))
}

// ClickAgain clicks where the last click was: the second half of a double click.
func (tab *Tab) ClickAgain() {
	tab.t.Helper()
	tab.run(chromedp.MouseClickXY(tab.clicked.X, tab.clicked.Y, chromedp.ClickCount(2)))
}

// Fill clicks a field, and types a text in place of what is there.
func (tab *Tab) Fill(selector, text string) {
	tab.t.Helper()
	tab.Click(selector)
	tab.run(chromedp.Evaluate[chromedp.Void]("document.activeElement.select?.()"))
	tab.Press(text)
}

// Press types texts, key by key, and keys by their names, such as Enter, wherever the focus is.
func (tab *Tab) Press(texts ...string) {
	tab.t.Helper()
	for _, text := range texts {
		tab.run(chromedp.KeyEvent(cmp.Or(keys[text], text)))
	}
}
