package samplepage

import (
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

// The tree is a tree to a screen reader, and everything works from the keyboard.
func TestKeyboard_aloneIsEnough(t *testing.T) {
	a := alone(t)
	w := bench(t, a, a, "a/b/c", "d", "e")
	one := w.here
	one.Await("the tree takes the focus", `(document.querySelector("#tree").focus(), document.activeElement.id === "tree")`)
	one.Press(chromium.KeyHome + chromium.KeyArrowDown)
	one.Await("the tree says where it is", fmt.Sprintf(`document.querySelector("#tree").getAttribute("aria-activedescendant") === "suite-%d"`, w.ids["a"]))
	one.Await("the row says what it is", fmt.Sprintf(
		`(r => r.role === "treeitem" && r.ariaLevel === "2" && r.ariaExpanded === "true" && r.ariaSelected === "true" && r.ariaPosInSet === "1" && r.ariaSetSize === "3")(document.querySelector(%q))`, row(w.ids["a"])))
	one.Press(chromium.KeyArrowLeft)
	one.lists(planName(w), "a", "d", "e")
	one.Press(chromium.KeyArrowRight + chromium.KeyArrowRight)
	// An update from elsewhere leaves focus and choice where they are.
	ask[suite](a, "PATCH", fmt.Sprintf("/api/suites/%d", w.ids["a"]), object{"name": "z"})
	one.lists(planName(w), "d", "e", "z", "b", "c")
	one.Await("the focus and the choice stay", fmt.Sprintf(
		`document.activeElement.id === "tree" && document.activeElement.getAttribute("aria-activedescendant") === "suite-%d"`, w.ids["a/b"]))
	one.Press(chromium.KeyEnter)
	one.Await("the details have the focus", `document.activeElement.id === "detail"`)
	one.Await("a button has the focus", `(document.querySelector("[data-do=rename]").focus(), true)`)
	one.Press(chromium.KeyEnter)
	one.AwaitShown("dialog[open]")
	one.Press("renamed" + chromium.KeyEnter)
	w.there.shows(w.ids["a/b"], "renamed")
	one.Await("the focus is back", `document.activeElement.dataset.do === "rename"`)
	one.Fill("#filter", "c")
	one.lists(planName(w), "z", "renamed", "c")
	one.Press(chromium.KeyArrowDown + chromium.KeyEnd + chromium.KeyEnter)
	one.AwaitText("#detail h1", "c")
}

// Whoever makes a suite from the keyboard goes on from there.
func TestKeyboard_GoesOnFromWhatWasMade(t *testing.T) {
	a := alone(t)
	w := bench(t, a, nil, "a")
	one := w.here
	one.choose(w.ids["a"])
	for _, button := range []string{"#new-suite", "[data-do=newSuite]", "[data-do=copy]"} {
		before := a.ids(w.plan)
		one.Await("a button has the focus", fmt.Sprintf(`(document.querySelector(%q).focus(), true)`, button))
		one.Press(chromium.KeyEnter)
		one.AwaitShown("dialog[open]")
		if button != "[data-do=copy]" {
			one.Press("new")
		}
		one.Press(chromium.KeyEnter)
		one.Await("the tree has the focus", `document.activeElement.id === "tree" && !document.querySelector("dialog")`)
		chosen := chromium.Eval[string](one.Tab, `document.activeElement.getAttribute("aria-activedescendant")`)
		for path, id := range before {
			if row(id) == "#"+chosen {
				t.Errorf("after %s, %q has the focus", button, path)
			}
		}
	}
}

func TestWords_inChinese(t *testing.T) {
	a := alone(t)
	w := window{browser.Open(t, a.url)}
	w.Click("#language")
	w.AwaitText("#welcome h1", "始终正确")
	w.do("demo")
	w.AwaitText("#plan-name", "demo / 网上商店")
	w.AwaitText("#tree-foot", "16 个套件")
	w.Await("the document says so", `document.documentElement.lang === "zh-CN"`)
	w.known("安娜")
	ids := a.ids(plan{ID: 1})
	other := open(a, a.url+"/#plan/1")
	other.AwaitText("#tree-foot", "16 suites")
	w.Fill("#filter", "支付")
	w.choose(ids["结算/支付"])
	w.do("edit")
	w.AwaitText(".lock-card", "你正在编辑")
	other.Fill("#filter", "支付")
	other.locked(ids["结算/支付"], "theirs", "安娜 is editing") // in the reader's language
	other.Click("#language")
	other.locked(ids["结算/支付"], "theirs", "安娜 正在编辑")
	other.choose(ids["结算/支付"])
	other.Allow("423")
	other.do("rename")
	other.Press("收款" + chromium.KeyEnter)
	other.refused("把“支付”重命名为“收款”")
	other.refused("起被锁定")
	other.card("等它空闲")
	w.do("done")
	other.AwaitText(".notice.good", "现在名为“收款”。")
	w.AwaitText("#detail h1", "收款")
	w.Reload()
	w.AwaitText("#tree-foot", "16 个套件") // it is remembered
}
