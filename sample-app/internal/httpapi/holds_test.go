package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/httpapi"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
)

// Each claim has its suite, however that is spelt, and of a plan with a thousand others no more is
// read than a few rows.
func TestPlanLocks_FindsSuitesWithoutReadingThePlan(t *testing.T) {
	for _, backend := range apitest.Backends(t) {
		t.Run(backend.Name, func(t *testing.T) {
			api := apitest.Start(t, instance.Config{DB: backend.DB, Locks: backend.Locks, Assert: true})
			ids := fixture(t, api, "locks")
			var many []string
			for i := range 1000 {
				many = append(many, fmt.Sprintf(`"d/Part %d"`, i))
			}
			is(t, api, ids, `POST /api/plans/{plan}/import {"suites":[`+strings.Join(many, ",")+`]}`, http.StatusOK, "")
			made := func(request string) (got struct {
				ID    int64
				Token string
			}) {
				t.Helper()
				testerr.Must(t, json.Unmarshal(is(t, api, ids, request, http.StatusCreated, "").Body, &got))
				return got
			}
			token, want := "", []string(nil)
			for _, s := range []struct{ name, parent string }{
				{"Login Tests", "a"}, {"Ärger & STRASSE", "a"}, {"ﬁsh", "a"}, {"测试", "a"}, {"Below", "Login Tests"}, {"Part X", "d"}, {"deep", "Part X"},
			} {
				ids[s.name] = made(fmt.Sprintf(`POST /api/plans/{plan}/suites {"parent_id":{%s},"name":%q}`, s.parent, s.name)).ID
				if s.name != "Login Tests" && s.name != "Part X" {
					token = made(fmt.Sprintf(`POST /api/suites/%d/lock {"for":"10m","note":%q}`, ids[s.name], s.name)).Token
					want = append(want, fmt.Sprintf("%s: %d true", s.name, ids[s.name]))
				}
			}
			// The lock keeps the old name as well, which is in the suite above.
			api.Do(t, "PATCH", fmt.Sprintf("/api/suites/%d", ids["deep"]), `{"name":"New"}`, "Lock-Token", token)
			want = append(want, fmt.Sprintf("deep: %d false", ids["Part X"]))

			var rows atomic.Int64
			count := func(tx *gorm.DB) { rows.Add(max(tx.RowsAffected, 0)) }
			testerr.Must(t, api.DB.Read.Callback().Query().After("gorm:query").Register("count", count))
			locks := apitest.Made[httpapi.Locks](t, api, "GET", expand("/api/plans/{plan}/locks", ids), "")
			if n := rows.Load(); n == 0 || n > 50 {
				t.Errorf("%d rows were read", n)
			}
			found := map[string]bool{}
			for _, h := range locks.Holders {
				for _, c := range h.Claims {
					found[fmt.Sprintf("%s: %d %t", h.What, c.SuiteID, c.Exact)] = true
				}
			}
			for _, w := range want {
				if !found[w] {
					t.Errorf("%s is not among %v", w, found)
				}
			}
		})
	}
}
