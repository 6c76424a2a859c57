package samplepage

import (
	"os"
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

func TestLook(t *testing.T) {
	a := alone(t)
	w := window{browser.Open(t, a.url)}
	w.AwaitText("#welcome h1", "A tree")
	shot := func(w window, name string) {
		if err := os.WriteFile("/tmp/samplepage/"+name+".png", w.Screenshot(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	shot(w, "welcome")
	w.do("demo")
	w.AwaitText("#tree-foot", "30 suites")
	w.Await("the window is live", `document.querySelector("#live").dataset.state === "live"`)
	ids := a.ids(plan{ID: 1})
	o := open(a, a.url+"/#plan/1").known("Anna")
	o.choose(ids["Checkout/Payment"])
	o.do("edit")
	o.locked(ids["Checkout/Payment"], "mine", "You are editing")
	w.locked(ids["Checkout/Payment"], "theirs", "Anna is editing")
	w.choose(ids["Checkout/Payment/Card"])
	w.AwaitText(".case-list", "declined")
	w.do("rename")
	w.Press("Cards" + chromium.KeyEnter)
	w.Allow("423")
	w.refused("Anna is editing")
	shot(w, "refused")
	shot(o, "mine")
	w.Prefer("prefers-color-scheme", "dark")
	shot(w, "dark")
	w.Click("#language")
	shot(w, "chinese")
	w.Click("#plan-button")
	w.AwaitShown(".plan-line")
	shot(w, "plans")
	w.Press(chromium.KeyEscape)
	w.Resize(360, 740)
	shot(w, "phone")
	w.Click(".back")
	shot(w, "phone-tree")
	w.card("Wait until it is free")
	shot(w, "phone-wait")
	o.do("done")
	w.shows(ids["Checkout/Payment/Card"], "Cards")
	shot(w, "after")
}
