package adminpage

import (
	"bytes"
	"flag"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/integration/internal/chromium"
	"github.com/pathlock-go/pathlock/store/memstore"
)

var screenshots = flag.Bool("screenshots", false, "write the pictures of docs/images")

// largest is how many bytes a picture in the documentation has at most.
const largest = 200 << 10

// TestScreenshots makes the pictures of the documentation, of locks like those of a test-plan
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
	tab.Resize(1280, 1120)
	tab.AwaitText("#waits li.cause", "3 requests wait because of this")
	tab.Await("the waits take long enough to look real", `[...document.querySelectorAll(".waiter time")].some(e => / [89]\.\d s/.test(e.innerText))`)
	save(t, tab, "admin.png")
	tab.Prefer("prefers-color-scheme", "dark")
	tab.Resize(chromium.PhoneWidth, chromium.PhoneHeight)
	tab.Await("the page is dark", luminance+" < 0.2")
	save(t, tab, "admin-phone.png")
}

// save writes a screenshot to docs/images with a palette of 256 colours, which is plenty for a
// page.
func save(t *testing.T, tab *chromium.Tab, name string) {
	t.Helper()
	shot, err := png.Decode(bytes.NewReader(tab.Screenshot()))
	if err != nil {
		t.Fatal(err)
	}
	reduced := image.NewPaletted(shot.Bounds(), colours(shot))
	draw.Draw(reduced, reduced.Bounds(), shot, shot.Bounds().Min, draw.Src)
	var file bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&file, reduced); err != nil {
		t.Fatal(err)
	}
	if file.Len() > largest {
		t.Errorf("%s has %d bytes", name, file.Len())
	}
	path := filepath.Join("..", "..", "docs", "images", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, file.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// colours returns the 256 colours that a picture has most of, none of them near another.
func colours(shot image.Image) color.Palette {
	often := make(map[color.RGBA]int)
	for y := shot.Bounds().Min.Y; y < shot.Bounds().Max.Y; y++ {
		for x := shot.Bounds().Min.X; x < shot.Bounds().Max.X; x++ {
			r, g, b, _ := shot.At(x, y).RGBA()
			often[color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 255}]++
		}
	}
	chosen := make(color.Palette, 0, 256)
	for len(chosen) < cap(chosen) && len(often) > 0 {
		var best color.RGBA
		most := 0
		for c, n := range often {
			if n > most {
				best, most = c, n
			}
		}
		chosen = append(chosen, best)
		for c := range often {
			if near(c, best) {
				delete(often, c)
			}
		}
	}
	return chosen
}

// near reports whether nobody would see a difference.
func near(a, b color.RGBA) bool {
	return max(a.R, b.R)-min(a.R, b.R) < 7 && max(a.G, b.G)-min(a.G, b.G) < 7 && max(a.B, b.B)-min(a.B, b.B) < 7
}
