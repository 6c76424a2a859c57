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

// A browser gets the page, which names no other host and has nothing inline, and everything that
// the page names.
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
	if inline := regexp.MustCompile(`<script[^>]*>[^<]|<style|\son\w+=|\sstyle=|(src|href)="(https?:)?//`).Find(page.Body); inline != nil {
		t.Errorf("the page has %q", inline)
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
		for _, address := range regexp.MustCompile(`https?://[^\s"')]+`).FindAll(file.Body, -1) {
			if !strings.HasPrefix(string(address), "http://www.w3.org/") && string(match[1]) != "routes" {
				t.Errorf("%s names %s", match[1], address)
			}
		}
	}
	for _, missing := range []string{"/page/none.js", "/page/.", "/page/..%2fpage.go"} {
		if answer := api.Do(t, "GET", missing, ""); answer.Status != http.StatusNotFound {
			t.Errorf("%s: %d", missing, answer.Status)
		}
	}
}

// Other clients get the list of routes, and a browser gets it at an address of its own.
func TestProgramsGetTheRoutes(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	plain := api.Do(t, "GET", "/", "")
	if listed := api.Do(t, "GET", "/routes", "", "Accept", asBrowser); string(listed.Body) != string(plain.Body) || !strings.HasPrefix(listed.Header.Get("Content-Type"), "text/plain") {
		t.Errorf("/routes: %s\n%s", listed.Header.Get("Content-Type"), listed.Body)
	}
}
