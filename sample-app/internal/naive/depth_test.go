package naive_test

import (
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/model"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// No suite exceeds the greatest depth, protected or not, and the deepest one can have cases.
func TestDepthIsLimitedWithoutProtection(t *testing.T) {
	for mode, config := range map[string]instance.Config{
		"neither locks nor assertion": {Locks: "off://"},
		"locks alone":                 {Locks: "memory://"},
		"assertion alone":             {Locks: "off://", Assert: true},
	} {
		t.Run(mode, func(t *testing.T) {
			config.DB = testdb.SQLite(t)
			api := apitest.Start(t, config)
			plan := apitest.Made[model.Plan](t, api, "POST", "/api/projects/p/plans", `{"name":"x"}`)
			suites := fmt.Sprintf("/api/plans/%d/suites", plan.ID)
			create := func(parent int64, name string) model.Suite {
				return apitest.Made[model.Suite](t, api, "POST", suites, fmt.Sprintf(`{"parent_id":%d,"name":%q}`, parent, name))
			}
			chain := []model.Suite{{ID: plan.RootID}}
			for depth := 1; depth <= model.MaxDepth; depth++ {
				chain = append(chain, create(chain[depth-1].ID, "n"))
			}
			top := create(plan.RootID, "top")
			create(create(top.ID, "middle").ID, "low")
			parent := func(depth int) string { return fmt.Sprintf(`{"parent_id":%d,"name":"copy"}`, chain[depth].ID) }
			for _, tt := range []struct {
				what, path, body string
				status           int
			}{
				{"a suite below the deepest", suites, parent(model.MaxDepth), 400},
				{"a copy that is too deep itself", fmt.Sprintf("/api/suites/%d/copy", top.ID), parent(model.MaxDepth), 400},
				{"a copy that is too deep below", fmt.Sprintf("/api/suites/%d/copy", top.ID), parent(model.MaxDepth - 2), 400},
				{"a copy that just fits", fmt.Sprintf("/api/suites/%d/copy", top.ID), parent(model.MaxDepth - 3), 201},
				{"a move that is too deep itself", fmt.Sprintf("/api/suites/%d/move", top.ID), parent(model.MaxDepth), 400},
				{"a move that is too deep below", fmt.Sprintf("/api/suites/%d/move", top.ID), parent(model.MaxDepth - 2), 400},
				{"a move that just fits", fmt.Sprintf("/api/suites/%d/move", top.ID), parent(model.MaxDepth - 3), 200},
			} {
				if answer := api.Do(t, "POST", tt.path, tt.body); answer.Status != tt.status {
					t.Errorf("%s: %d %s, want %d", tt.what, answer.Status, answer.Body, tt.status)
				}
			}
			deepest := chain[model.MaxDepth]
			made := apitest.Made[model.Case](t, api, "POST", fmt.Sprintf("/api/suites/%d/cases", deepest.ID), `{"name":"k"}`)
			if want := deepest.Path + "/k"; made.Path != want {
				t.Errorf("the case of the deepest suite has the path %s, want %s", made.Path, want)
			}
		})
	}
}
