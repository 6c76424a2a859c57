package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// Somebody locks a suite on one instance and goes home. Whoever looks at the other instance sees
// the hold, and can end it.
func TestAdminPage_releasesWhatAnotherInstanceHolds(t *testing.T) {
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
		tree := p.there.Do(t, "GET", "/admin/locks/api/tree?"+mine.Encode(), "")
		testerr.MustBe(p, string(tree.Body), json.Unmarshal(tree.Body, &shown), nil)
		if len(shown.Holders) != 1 || shown.Holders[0].Note != "Anna edits" || !shown.Holders[0].Detached {
			p.Fatalf("the tree shows %+v", shown)
		}
		body := fmt.Sprintf(`{"namespace":%q,"id":%q,"key":%q,"reason":"Anna went home"}`,
			mine.Get("namespace"), mine.Get("id"), shown.Holders[0].Key)
		if got := p.there.Do(t, "POST", "/admin/locks/api/release", body, "Content-Type", "application/json"); got.Status != http.StatusOK {
			p.Fatalf("release: %d %s", got.Status, got.Body)
		}
		if got := rename(); got != http.StatusOK {
			p.Errorf("a rename after the release: %d, want 200", got)
		}
	})
}

func TestAdminPage_isReadOnlyUnlessToldOtherwise(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	release := `{"namespace":"a","id":"b","key":"c","reason":"because"}`
	if got := api.Do(t, "POST", "/admin/locks/api/release", release, "Content-Type", "application/json"); got.Status != http.StatusForbidden || !strings.Contains(string(got.Body), "read-only") {
		t.Errorf("release: %d %s", got.Status, got.Body)
	}
}
