package httpapi_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/idempotency"
	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/model"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// Every POST that is sent again under its key, to another instance, gets the first answer, and
// makes nothing a second time.
func TestPostsTakePlaceOnce(t *testing.T) {
	for _, backend := range apitest.Backends(t) {
		t.Run(backend.Name, func(t *testing.T) {
			namespace := "keys-" + strings.ToLower(rand.Text()[:8])
			config := instance.Config{DB: backend.DB, Locks: backend.Locks, Assert: true, Namespace: namespace}
			a, b := apitest.Start(t, config), apitest.Start(t, config)
			ids := fixture(t, a, "keys")
			before := len(apitest.Made[tree](t, a, http.MethodGet, fmt.Sprintf("/api/plans/%d/tree", ids["plan"]), "").Suites)
			made := 0
			for _, c := range []struct {
				path, body string
				status     int
				suites     int
			}{
				{"/api/projects/" + namespace + "/plans", `{"name":"twice"}`, 201, 0},
				{fmt.Sprintf("/api/plans/%d/suites", ids["plan"]), fmt.Sprintf(`{"parent_id":%d,"name":"twice"}`, ids["root"]), 201, 1},
				{fmt.Sprintf("/api/suites/%d/copy", ids["c"]), fmt.Sprintf(`{"parent_id":%d,"name":"copied"}`, ids["root"]), 201, 1},
				{fmt.Sprintf("/api/suites/%d/move", ids["d"]), fmt.Sprintf(`{"parent_id":%d}`, ids["root"]), 200, 0},
				{fmt.Sprintf("/api/suites/%d/cases", ids["c"]), `{"name":"case","body":"x"}`, 201, 0},
				{fmt.Sprintf("/api/suites/%d/lock", ids["c"]), `{"for":"1m"}`, 201, 0},
				{fmt.Sprintf("/api/plans/%d/suites", ids["plan"]), `{"parent_id":1234567,"name":"x"}`, 404, 0},
			} {
				key := rand.Text()
				first := a.Do(t, http.MethodPost, c.path, c.body, idempotency.Header, key)
				again := b.Do(t, http.MethodPost, c.path, c.body, idempotency.Header, key)
				if first.Status != c.status || again.Status != c.status || string(first.Body) != string(again.Body) ||
					again.Header.Get(idempotency.ReplayedHeader) != "true" || again.Header.Get("Content-Type") != first.Header.Get("Content-Type") {
					t.Errorf("%s: first %d %s, then %d %s %v", c.path, first.Status, first.Body, again.Status, again.Body, again.Header)
				}
				other := b.Do(t, http.MethodPost, c.path, c.body+" ", idempotency.Header, key)
				wantProblem(t, other, http.StatusUnprocessableEntity, "idempotency-key-reused")
				made += c.suites
			}
			after := len(apitest.Made[tree](t, a, http.MethodGet, fmt.Sprintf("/api/plans/%d/tree", ids["plan"]), "").Suites)
			if after != before+made {
				t.Errorf("%d suites more, want %d", after-before, made)
			}
			wantProblem(t, a.Do(t, http.MethodPost, "/api/projects/x/plans", `{"name":"x"}`, idempotency.Header, `"`), http.StatusBadRequest, "idempotency-key-malformed")

			path, body, key := fmt.Sprintf("/api/plans/%d/suites", ids["plan"]), fmt.Sprintf(`{"parent_id":%d,"name":"storm"}`, ids["root"]), rand.Text()
			var clients sync.WaitGroup
			for n := range 10 {
				clients.Go(func() {
					answer, err := []*apitest.API{a, b}[n%2].Try(t.Context(), http.MethodPost, path, body, idempotency.Header, key)
					if err != nil || answer.Status != http.StatusCreated {
						t.Errorf("%d %s %v", answer.Status, answer.Body, err)
					}
				})
			}
			clients.Wait()
		})
	}
}

// A change and its answer are one transaction: where the answer cannot be recorded, nothing is
// changed.
func TestNothingChangesWithoutItsAnswer(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	ids := fixture(t, api, "recorded")
	failed := errors.New("the answer is not recorded")
	ctx := plans.Recording(t.Context(), func(*gorm.DB, any) error { return failed })
	if _, err := api.Service.CreateSuite(ctx, ids["plan"], ids["root"], "new"); !errors.Is(err, failed) {
		t.Errorf("a change whose answer is not recorded: %v", err)
	}
	step{request: `POST /api/plans/{plan}/suites {"parent_id":{root},"name":"new"}`, status: http.StatusCreated}.run(t, api, ids)
}

// tree is the answer with a plan's suites.
type tree struct {
	Suites []model.Suite `json:"suites"`
}

// wantProblem checks a refusal.
func wantProblem(t *testing.T, answer apitest.Answer, status int, slug string) {
	t.Helper()
	if answer.Status != status || !strings.Contains(string(answer.Body), `problem:`+slug+`"`) {
		t.Errorf("%d %s, want %d %s", answer.Status, answer.Body, status, slug)
	}
}
