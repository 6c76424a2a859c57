package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/httpapi"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// An import that waits for a suite goes on at its new path if it is renamed meanwhile, and says so
// if its names are taken meanwhile. SQLite has one writer: there, nobody writes while an import
// waits.
func TestImport_goesOnAfterOthersHaveWritten(t *testing.T) {
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
			for _, c := range []struct {
				imports, route, body string // while the import waits, the holder of a's lock sends this
				status               int
				says                 string
				last                 string // path of the tree
			}{
				{`{"suites":["a/b","a/c"]}`, "POST " + at + "/suites", fmt.Sprintf(`{"parent_id":%d,"name":"b"}`, a.ID), http.StatusConflict, "others have taken one of the names in the meantime", "/a/b"},
				{`{"suites":["a/b/c"]}`, fmt.Sprintf("PATCH /api/suites/%d", a.ID), `{"name":"new"}`, http.StatusOK, `"suites":1`, "/new/b/c"},
			} {
				lock := apitest.Made[struct{ Token string }](t, api, "POST", fmt.Sprintf("/api/suites/%d/lock", a.ID), `{"for":"10m"}`, asJSON...)
				holder := []string{"Content-Type", "application/json", "Lock-Token", lock.Token}
				imported := make(chan apitest.Answer)
				go func() {
					answer, err := api.Try(t.Context(), "POST", at+"/import", c.imports, asJSON...)
					testerr.None(t, err)
					imported <- answer
				}()
				for waits := false; !waits; time.Sleep(10 * time.Millisecond) {
					waits = len(apitest.Made[httpapi.Locks](t, api, "GET", at+"/locks", "").Waiters) > 0
				}
				method, path, _ := strings.Cut(c.route, " ")
				apitest.Made[plans.Suite](t, api, method, path, c.body, holder...)
				api.Do(t, "DELETE", fmt.Sprintf("/api/suites/%d/lock", a.ID), "", holder...)
				var tree struct{ Suites []plans.Suite }
				answer := <-imported
				testerr.Must(t, json.Unmarshal(api.Do(t, "GET", at+"/tree", "").Body, &tree))
				if answer.Status != c.status || !strings.Contains(string(answer.Body), c.says) || tree.Suites[len(tree.Suites)-1].Path != c.last {
					t.Errorf("the import %s answers %d %s, and the tree is %+v", c.imports, answer.Status, answer.Body, tree.Suites)
				}
			}
		})
	}
}
