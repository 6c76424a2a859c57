package httpapi_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/model"
)

// Three instances run hundreds of mixed operations at once. Nobody gets a 5xx, and every row fits
// its parent, with locks and with the assertion alone.
func TestConcurrentOperations(t *testing.T) {
	const clients, operations = 12, 25
	for _, backend := range apitest.Backends(t) {
		for _, locks := range []string{backend.Locks, "off://"} {
			t.Run(backend.Name+" with "+locks[:3], func(t *testing.T) {
				var instances []*apitest.API
				for range 3 {
					instances = append(instances, apitest.Start(t, instance.Config{DB: backend.DB, Locks: locks, Assert: true, Namespace: t.Name()}))
				}
				ids := fixture(t, instances[0], "concurrent"+locks[:3])
				w := &suites{root: ids["root"], ids: []int64{ids["a"], ids["b"], ids["c"], ids["d"]}}
				var group sync.WaitGroup
				for client := range clients {
					r := rand.New(rand.NewPCG(1, uint64(client)))
					group.Go(func() {
						for n := range operations {
							change(t, instances[r.IntN(len(instances))], w, ids, r, fmt.Sprintf("n%d-%d", client, n))
						}
					})
				}
				group.Wait()
				checkRows(t, instances[0], ids["plan"])
			})
		}
	}
}

// suites are the suites that the clients know.
type suites struct {
	root int64

	mu  sync.Mutex
	ids []int64
}

// pick returns one of the suites, but rarely the root suite.
func (s *suites) pick(r *rand.Rand) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := r.IntN(len(s.ids) + 1); n < len(s.ids) {
		return s.ids[n]
	}
	return s.root
}

// remove forgets a deleted suite.
func (s *suites) remove(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids = slices.DeleteFunc(s.ids, func(known int64) bool { return known == id })
}

func (s *suites) add(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids = append(s.ids, id)
}

// change makes a random change to the plan. It accepts any answer that others may have caused.
func change(t *testing.T, api *apitest.API, known *suites, ids map[string]int64, r *rand.Rand, name string) {
	id, other := known.pick(r), known.pick(r)
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
	if err != nil {
		t.Errorf("%s %s: %v", method, path, err)
		return
	}
	switch answer.Status {
	case http.StatusCreated:
		var created model.Suite
		if err := json.Unmarshal(answer.Body, &created); err == nil && created.PlanID != 0 {
			known.add(created.ID)
		}
	case http.StatusNotFound:
		if strings.HasPrefix(path, "/api/suites/") && method != "POST" {
			known.remove(id)
		}
	case http.StatusBadRequest:
		if id != known.root {
			t.Errorf("%s %s %s: %d %s", method, path, body, answer.Status, answer.Body)
		}
	case http.StatusOK, http.StatusNoContent, http.StatusConflict, http.StatusLocked:
	default:
		t.Errorf("%s %s %s: %d %s", method, path, body, answer.Status, answer.Body)
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
		"deleted suites that no item of the recycle bin has": `SELECT COUNT(*) FROM suites s WHERE s.deleted_at IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM recycled_nodes n WHERE n.kind = 'suite' AND n.node_id = s.id)`,
		"living suites in the recycle bin": `SELECT COUNT(*) FROM suites s JOIN recycled_nodes n ON n.kind = 'suite' AND n.node_id = s.id
			WHERE s.deleted_at IS NULL`,
		"deleted cases that no item of the recycle bin has": `SELECT COUNT(*) FROM cases c WHERE c.deleted_at IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM recycled_nodes n WHERE n.kind = 'case' AND n.node_id = c.id)`,
		"living cases in the recycle bin": `SELECT COUNT(*) FROM cases c JOIN recycled_nodes n ON n.kind = 'case' AND n.node_id = c.id
			WHERE c.deleted_at IS NULL`,
	} {
		var n int
		if err := api.DB.Pool().QueryRow(query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n != 0 {
			t.Errorf("%d %s", n, what)
		}
	}
}
