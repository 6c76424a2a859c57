package samplepage

import (
	"testing"
)

// A newcomer makes the demo plan by a click.
func TestANewcomerBeginsWithTheDemo(t *testing.T) {
	a := alone(t)
	w := window{browser.Open(t, a.url)}
	w.AwaitText("#welcome h1", "A tree that many people change at once")
	w.do("demo")
	w.AwaitText("#plan-name", "demo / Web shop")
	w.AwaitText("#tree-foot", "30 suites")
	w.Await("the window is live", `document.querySelector("#live").dataset.state === "live"`)
}
