package admin_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// away are the locks of a store that is away, without which requests go on.
type away struct {
	*pathlock.Locker
	since time.Time
}

func (a away) Degraded() time.Time { return a.since }

func (away) Trees(context.Context) ([]pathlock.Tree, error) { return nil, pathlock.ErrUnavailable }

func TestPage_saysThatLockingIsDegraded(t *testing.T) {
	for _, since := range []time.Time{{}, time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)} {
		page, err := admin.New(away{since: since}, anybody())
		testerr.Must(t, err)
		w := httptest.NewRecorder()
		page.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/admin/locks/api/trees", nil))
		body := w.Body.String()
		if says := strings.Contains(body, `"degraded_since":"2026-11-26T12:00:00Z"`); !strings.Contains(body, ":lock-store-unavailable") || says == since.IsZero() {
			t.Errorf("%d %s, since %v", w.Code, body, since)
		}
	}
}
