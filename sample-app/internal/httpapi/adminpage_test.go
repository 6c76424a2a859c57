package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
)

// Somebody locks a suite on one instance and goes home. Whoever looks at the other instance sees
// the hold, the wait that it caused there, and can end it.
func TestTheAdminPageShowsAndReleasesWhatAnotherInstanceHolds(t *testing.T) {
	lockers(t, func(p *pair) {
		suite := fmt.Sprintf("/api/suites/%d", p.ids["a"])
		if got := p.here.Do(t, "POST", suite+"/lock", `{"for":"10m","note":"Anna edits"}`); got.Status != http.StatusCreated {
			p.Fatalf("lock: %d %s", got.Status, got.Body)
		}
		rename := func() int { return p.there.Do(p.T, "PATCH", suite, `{"name":"renamed"}`).Status }
		if got := rename(); got != http.StatusLocked {
			p.Fatalf("a rename: %d, want 423", got)
		}
		mine := url.Values{"namespace": {p.namespace}, "id": {fmt.Sprint(p.ids["plan"])}}
		var shown struct {
			Holders []struct {
				Key, Note string
				Detached  bool
			}
		}
		p.admin("/api/tree?"+mine.Encode(), &shown)
		if len(shown.Holders) != 1 || shown.Holders[0].Note != "Anna edits" || !shown.Holders[0].Detached {
			p.Fatalf("the tree shows %+v", shown)
		}
		var history struct {
			Waits []struct {
				Outcome         string
				Waiter, Blocker struct{ Route, Note string }
			}
		}
		for p.admin("/api/history", &history); len(history.Waits) == 0; p.admin("/api/history", &history) {
			rename() // one that was over before it was looked at is not in the history
		}
		if w := history.Waits[0]; w.Blocker.Note != "Anna edits" || w.Waiter.Route != "PATCH /api/suites/:id" || w.Outcome != "timed-out" {
			p.Errorf("the history shows %+v", history)
		}
		body := fmt.Sprintf(`{"namespace":%q,"id":%q,"key":%q,"reason":"Anna went home"}`,
			mine.Get("namespace"), mine.Get("id"), shown.Holders[0].Key)
		if got := p.there.Do(t, "POST", "/admin/locks/api/release", body); got.Status != http.StatusUnsupportedMediaType {
			p.Errorf("a release without a type, as a foreign page can send it: %d %s", got.Status, got.Body)
		}
		if got := p.there.Do(t, "POST", "/admin/locks/api/release", body, "Content-Type", "application/json"); got.Status != http.StatusOK {
			p.Fatalf("release: %d %s", got.Status, got.Body)
		}
		if got := rename(); got != http.StatusOK {
			p.Errorf("a rename after the release: %d, want 200", got)
		}
	})
}

// admin asks the admin page of the other instance.
func (p *pair) admin(path string, into any) {
	p.Helper()
	got := p.there.Do(p.T, "GET", "/admin/locks"+path, "")
	if got.Status != http.StatusOK {
		p.Fatalf("GET %s: %d %s", path, got.Status, got.Body)
	}
	if err := json.Unmarshal(got.Body, into); err != nil {
		p.Fatal(err)
	}
}

func TestTheAdminPageIsReadOnlyUnlessToldOtherwise(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: apitest.Backends(t)[0].DB, Locks: "memory://", Assert: true})
	release := `{"namespace":"a","id":"b","key":"c","reason":"because"}`
	if got := api.Do(t, "POST", "/admin/locks/api/release", release, "Content-Type", "application/json"); got.Status != http.StatusForbidden || !strings.Contains(string(got.Body), "read-only") {
		t.Errorf("release: %d %s", got.Status, got.Body)
	}
	if got := api.Do(t, "GET", "/admin/locks/", ""); got.Status != http.StatusOK || !strings.Contains(string(got.Body), "<html") {
		t.Errorf("the page: %d %s", got.Status, got.Body)
	}
	if got := api.Do(t, "DELETE", "/admin/locks/", ""); got.Status != http.StatusMethodNotAllowed {
		t.Errorf("DELETE: %d %s", got.Status, got.Body)
	}
}
