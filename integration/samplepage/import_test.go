package samplepage

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// A directory becomes a plan by its names. More of them than one request takes are sent in batches.
func TestADirectoryBecomesAPlan(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "my project")
	for i := range 25 {
		inner := filepath.Join(folder, fmt.Sprintf("part %02d", i), "tests")
		if err := os.MkdirAll(inner, 0o700); err != nil {
			t.Fatal(err)
		}
		for j := range 25 {
			if err := os.WriteFile(filepath.Join(inner, fmt.Sprintf("case %02d.txt", j)), []byte("secret"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, left := range []string{".git/objects/ab", " part", "node_modules/x"} {
		if err := os.MkdirAll(filepath.Join(folder, left), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, left, "file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := alone(t)
	w := window{browser.Open(t, a.url)}
	w.AwaitShown(`[data-do="import"]`)
	w.Run(chromedp.SetUploadFiles(`input[type="file"]`, []string{folder}))
	w.AwaitText("#plan-name", "demo / my project")
	w.AwaitText("#tree-foot", "50 suites")
	w.AwaitText("#notices", "1 names cannot be used")
	imported := plan{ID: 1}
	a.sound(imported)
	ids := a.ids(imported)
	w.choose(ids["part 03/tests"])
	w.Await("the cases are there", `document.querySelectorAll(".case-list li").length === 25`)
	cases := ask[struct{ Cases []struct{ Name, Body string } }](a, "GET", fmt.Sprintf("/api/suites/%d/cases", ids["part 03/tests"]), nil).Cases
	if cases[7].Name != "case 07.txt" || cases[7].Body != "" {
		t.Errorf("a case is %v", cases[7])
	}
}

// languages has the browser prefer languages.
func languages(accepted string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: "test", AcceptLanguage: accepted})
		return err
	})
}
