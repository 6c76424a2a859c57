package httpapi_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/httpapi"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// An import that waits for a suite which is renamed meanwhile goes on at its new path. SQLite has
// one writer: there, nobody renames while an import waits.
func TestImport_followsASuiteThatIsRenamed(t *testing.T) {
	for _, b := range apitest.Backends(t) {
		if b.DB == b.Locks {
			continue
		}
		t.Run(b.Name, func(t *testing.T) {
			api := apitest.Start(t, instance.Config{DB: b.DB, Locks: b.Locks, Assert: true})
			asJSON := []string{"Content-Type", "application/json"}
			plan := apitest.Made[plans.Plan](t, api, "POST", "/api/projects/demo/plans", `{"name":"p"}`, asJSON...)
			at := fmt.Sprintf("/api/plans/%d", plan.ID)
			a := apitest.Made[plans.Suite](t, api, "POST", at+"/suites", fmt.Sprintf(`{"parent_id":%d,"name":"a"}`, plan.RootID), asJSON...)
			lock := apitest.Made[struct{ Token string }](t, api, "POST", fmt.Sprintf("/api/suites/%d/lock", a.ID), `{"for":"10m"}`, asJSON...)
			holder := []string{"Content-Type", "application/json", "Lock-Token", lock.Token}
			imported := make(chan apitest.Answer)
			go func() {
				answer, err := api.Try(t.Context(), "POST", at+"/import", `{"suites":["a/b/c"]}`, asJSON...)
				testerr.None(t, err)
				imported <- answer
			}()
			for waits := false; !waits; time.Sleep(10 * time.Millisecond) {
				waits = len(apitest.Made[httpapi.Locks](t, api, "GET", at+"/locks", "").Waiters) > 0
			}
			apitest.Made[plans.Suite](t, api, "PATCH", fmt.Sprintf("/api/suites/%d", a.ID), `{"name":"new"}`, holder...)
			api.Do(t, "DELETE", fmt.Sprintf("/api/suites/%d/lock", a.ID), "", holder...)
			var tree struct{ Suites []plans.Suite }
			answer := <-imported
			testerr.Must(t, json.Unmarshal(api.Do(t, "GET", at+"/tree", "").Body, &tree))
			if len(tree.Suites) != 4 || tree.Suites[3].Path != "/new/b/c" {
				t.Errorf("the import answers %d %s, and the tree is %+v", answer.Status, answer.Body, tree.Suites)
			}
		})
	}
}
