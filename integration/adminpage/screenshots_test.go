package adminpage

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

var screenshots = flag.Bool("screenshots", false, "write the picture of docs/images")

// largest is how many bytes a picture in the documentation has at most.
const largest = 200 << 10

// TestScreenshots makes the picture of the documentation, of locks like those of a test-plan
// backend. It needs a font with Chinese characters for the button that says 中文.
func TestScreenshots(t *testing.T) {
	if !*screenshots {
		t.Skip("writes files: it takes -screenshots")
	}
	s := newSite(t, memstore.New(), nil)
	edit, err := s.acquire(t.Context(), request{note: "editing", origin: from("edit", "POST /suites/:id/lock"), claims: []pathlock.Claim{x("/regression/login/single sign-on/ldap")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := edit.Detach(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.hold(request{note: "nightly import", origin: from("create", "POST /plans/:plan/import"), claims: []pathlock.Claim{x("/regression/payments")}})
	for range 2 {
		s.hold(request{note: "export", origin: from("read", "GET /suites/:id/export"), claims: []pathlock.Claim{sh("/smoke")}})
	}
	s.hold(request{note: "edit", origin: from("edit", "PATCH /cases/:id"), claims: []pathlock.Claim{pathlock.IX(pathlock.MustParsePath("/regression/search/filters"))}})
	s.wait(request{note: "rename", origin: from("rename", "PATCH /suites/:id"), claims: []pathlock.Claim{x("/regression/payments/cards")}})
	s.wait(request{note: "move", origin: from("move", "POST /suites/:id/move"), claims: []pathlock.Claim{x("/regression")}})
	s.wait(request{note: "insert", origin: from("insert", "POST /plans/:plan/suites"), claims: []pathlock.Claim{x("/regression/search/sorting")}})
	s.wait(request{note: "delete", origin: from("delete", "DELETE /suites/:id"), claims: []pathlock.Claim{x("/smoke")}})

	tab := s.open()
	tab.Resize(1280, 740)
	tab.AwaitText("#waits .holder", "2 waiting for this")
	tab.Await("the waits take long enough to look real", `[...document.querySelectorAll(".waiter .second > time:first-child")].some(e => parseFloat(e.innerText.match(/[\d.]+/)) >= 8)`)
	shot := tab.Screenshot()
	if len(shot) > largest {
		t.Errorf("the picture has %d bytes", len(shot))
	}
	if err := os.WriteFile(filepath.Join("..", "..", "docs", "images", "admin.png"), shot, 0o644); err != nil {
		t.Fatal(err)
	}
}
