package httpapi_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
)

// Three instances run hundreds of mixed operations at once, two with locks and one with the
// assertion alone. Nobody gets a 5xx, and every row fits its parent.
func TestConcurrentOperations(t *testing.T) {
	const clients, operations = 12, 25
	for _, backend := range apitest.Backends(t) {
		t.Run(backend.Name, func(t *testing.T) {
			var instances []*apitest.API
			for _, locks := range []string{backend.Locks, backend.Locks, "off://"} {
				instances = append(instances, apitest.Start(t, instance.Config{DB: backend.DB, Locks: locks, Assert: true, Namespace: t.Name()}))
			}
			ids := fixture(t, instances[0], "concurrent")
			var group sync.WaitGroup
			for client := range clients {
				r := rand.New(rand.NewPCG(1, uint64(client)))
				group.Go(func() {
					for n := range operations {
						change(t, instances[r.IntN(len(instances))], ids, r, fmt.Sprintf("n%d-%d", client, n))
					}
				})
			}
			group.Wait()
			checkRows(t, instances[0], ids["plan"])
		})
	}
}

// newest is above the ids of most suites that a run makes.
const newest = 40

// change makes a random change to the plan. It accepts any refusal, which others may have caused.
func change(t *testing.T, api *apitest.API, ids map[string]int64, r *rand.Rand, name string) {
	id, other := 1+r.IntN(newest), 1+r.IntN(newest)
	var method, path, body string
	switch r.IntN(16) {
	case 0, 1, 2:
		method, path, body = "POST", fmt.Sprintf("/api/plans/%d/suites", ids["plan"]), fmt.Sprintf(`{"parent_id":%d,"name":"%s"}`, id, name)
	case 3: // many want the same name
		method, path, body = "POST", fmt.Sprintf("/api/plans/%d/suites", ids["plan"]), fmt.Sprintf(`{"parent_id":%d,"name":"same"}`, id)
	case 4, 5, 6:
		method, path, body = "PATCH", fmt.Sprintf("/api/suites/%d", id), fmt.Sprintf(`{"name":"%s"}`, name)
	case 7, 8, 9:
		method, path, body = "POST", fmt.Sprintf("/api/suites/%d/move", id), fmt.Sprintf(`{"parent_id":%d}`, other)
	case 10:
		method, path, body = "POST", fmt.Sprintf("/api/suites/%d/copy", id), fmt.Sprintf(`{"parent_id":%d,"name":"%s"}`, ids["root"], name)
	case 11:
		method, path = "DELETE", fmt.Sprintf("/api/suites/%d", id)
	case 12:
		method, path, body = "POST", fmt.Sprintf("/api/suites/%d/cases", id), `{"name":"case"}`
	case 13:
		method, path, body = "POST", fmt.Sprintf("/api/cases/%d/move", ids["k"]), fmt.Sprintf(`{"suite_id":%d}`, id)
	case 14:
		method, path = "POST", fmt.Sprintf("/api/recycle-bin/%d/restore", 1+r.IntN(20))
	case 15:
		method, path = "GET", fmt.Sprintf("/api/plans/%d/fsck", ids["plan"])
	}
	answer, err := api.Try(t.Context(), method, path, body)
	if err != nil || answer.Status >= http.StatusInternalServerError {
		t.Errorf("%s %s %s: %d %s, %v", method, path, body, answer.Status, answer.Body, err)
	}
}

// checkRows reads the tables past the code under test, and has every row compared with its parent.
func checkRows(t *testing.T, api *apitest.API, plan int64) {
	t.Helper()
	report, err := api.Service.Check(t.Context(), plan)
	if err != nil || len(report.Problems) > 0 {
		t.Errorf("%+v, %v", report, err)
	}
	for what, query := range map[string]string{
		"living cases of suites that are gone": `SELECT COUNT(*) FROM cases c LEFT JOIN suites s ON s.id = c.suite_id AND s.deleted_at IS NULL
			WHERE c.deleted_at IS NULL AND s.id IS NULL`,
		"suites that are either deleted or in the recycle bin": `SELECT COUNT(*) FROM suites s WHERE (s.deleted_at IS NULL) =
			EXISTS (SELECT 1 FROM recycled_nodes n WHERE n.kind = 'suite' AND n.node_id = s.id)`,
		"cases that are either deleted or in the recycle bin": `SELECT COUNT(*) FROM cases c WHERE (c.deleted_at IS NULL) =
			EXISTS (SELECT 1 FROM recycled_nodes n WHERE n.kind = 'case' AND n.node_id = c.id)`,
	} {
		var n int
		testerr.Must(t, api.DB.Pool().QueryRow(query).Scan(&n))
		if n != 0 {
			t.Errorf("%d %s", n, what)
		}
	}
}
