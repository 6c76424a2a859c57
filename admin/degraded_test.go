package admin_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
)

// away are the locks of a store that is away, without which requests go on.
type away struct {
	admin.Locks
	since time.Time
}

func (a away) Degraded() time.Time { return a.since }

func (away) Trees(context.Context) ([]pathlock.Tree, error) { return nil, pathlock.ErrUnavailable }

func TestThePageSaysThatRequestsGoOnWithoutTheLockStore(t *testing.T) {
	since := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for _, want := range []time.Time{{}, since} {
		page, err := admin.New(away{since: want}, anybody())
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/admin/locks/api/trees", nil)
		page.ServeHTTP(w, r)
		var problem struct {
			Type  string    `json:"type"`
			Since time.Time `json:"degraded_since"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil {
			t.Fatal(err)
		}
		if problem.Type != "urn:pathlock:problem:lock-store-unavailable" || !problem.Since.Equal(want) {
			t.Errorf("%d %s, want since %v", w.Code, w.Body, want)
		}
	}
}
