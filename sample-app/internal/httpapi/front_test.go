package httpapi_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// What a browser asks for.
const asBrowser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"

// A browser gets the page, whose policy allows nothing inline and no other host, and everything
// that the page names.
func TestABrowserGetsThePage(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	page := api.Do(t, "GET", "/", "", "Accept", asBrowser)
	policy := page.Header.Get("Content-Security-Policy")
	if page.Status != http.StatusOK || page.Header.Get("Content-Type") != "text/html; charset=utf-8" || page.Header.Get("Vary") != "Accept" {
		t.Fatalf("the page: %d %v", page.Status, page.Header)
	}
	if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
		t.Errorf("the policy is %q", policy)
	}
	named := regexp.MustCompile(`(?:src|href)="([^"#]+)"`).FindAllSubmatch(page.Body, -1)
	if len(named) < 5 {
		t.Errorf("the page names %d files", len(named))
	}
	for _, match := range named {
		file := api.Do(t, "GET", "/"+string(match[1]), "")
		if file.Status != http.StatusOK {
			t.Errorf("%s: %d", match[1], file.Status)
		}
	}
}
