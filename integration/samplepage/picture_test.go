package samplepage

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

var screenshots = flag.Bool("screenshots", false, "write the picture of docs/images")

// The picture of the documentation: one person edits, another is refused and may wait.
func TestThePicture(t *testing.T) {
	a := alone(t, "--wait", "100ms")
	first := window{browser.Open(t, a.url)}
	first.do("demo")
	first.AwaitText("#tree-foot", "16 suites")
	ids := a.ids(plan{ID: 1})
	anna, ben := open(a, a.url+"/#plan/1").known("Anna"), open(a, a.url+"/#plan/1").known("Ben")
	ben.Navigate("about:blank")
	ben.Navigate(a.url + "/#plan/1")
	ben.AwaitText("#me", "Ben")
	anna.choose(ids["Checkout/Payment"])
	anna.do("edit")
	ben.locked(ids["Checkout/Payment"], "theirs", "Anna is editing")
	ben.Fill("#filter", "")
	ben.choose(ids["Checkout/Payment"])
	ben.Allow("423")
	ben.do("rename")
	ben.Press("Paying" + chromium.KeyEnter)
	ben.refused("Anna is editing")
	ben.card("Wait until it is free")
	ben.AwaitText(".notice.wait", "Stop waiting")
	ben.Await("the card is in its place", `document.getAnimations().every(a => a.effect.target.matches(".live i") || a.effect.getTiming().iterations === Infinity)`)
	picture := ben.Screenshot()
	if len(picture) > 200_000 {
		t.Errorf("the picture has %d bytes", len(picture))
	}
	if *screenshots {
		if err := os.WriteFile(filepath.Join("..", "..", "docs", "images", "sample-app.png"), picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	anna.do("done")
	ben.shows(ids["Checkout/Payment"], "Paying")
}
