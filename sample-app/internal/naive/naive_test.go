package naive_test

import (
	"fmt"
	"testing"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/model"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	goleak.VerifyTestMain(m)
}

// If requests run one after the other, the unprotected handlers do the same as the protected ones.
// They break trees only because they run at the same time.
func TestAlone(t *testing.T) {
	for _, backend := range apitest.Backends(t) {
		t.Run(backend.Name, func(t *testing.T) {
			api := apitest.Start(t, instance.Config{DB: backend.DB, Locks: "off://", Assert: false})
			if !api.Unprotected {
				t.Fatal("the instance is protected")
			}
			plan := apitest.Made[model.Plan](t, api, "POST", "/api/projects/p/plans", `{"name":"x"}`)
			create := func(parent int64, name string) model.Suite {
				return apitest.Made[model.Suite](t, api, "POST", fmt.Sprintf("/api/plans/%d/suites", plan.ID), fmt.Sprintf(`{"parent_id":%d,"name":%q}`, parent, name))
			}
			a := create(plan.RootID, "a")
			b := create(a.ID, "é😀")
			c := create(b.ID, "c")
			d := create(plan.RootID, "d")
			refused := func(status int, method, path, body string) {
				t.Helper()
				if answer := api.Do(t, method, path, body); answer.Status != status {
					t.Errorf("%s %s %s: %d %s, want %d", method, path, body, answer.Status, answer.Body, status)
				}
			}
			refused(409, "POST", fmt.Sprintf("/api/plans/%d/suites", plan.ID), fmt.Sprintf(`{"parent_id":%d,"name":"d"}`, plan.RootID))
			refused(409, "PATCH", fmt.Sprintf("/api/suites/%d", a.ID), `{"name":"d"}`)
			refused(409, "POST", fmt.Sprintf("/api/suites/%d/move", a.ID), fmt.Sprintf(`{"parent_id":%d}`, c.ID))
			refused(400, "DELETE", fmt.Sprintf("/api/suites/%d", plan.RootID), "")
			refused(404, "PATCH", "/api/suites/999999", `{"name":"d"}`)
			apitest.Made[model.Suite](t, api, "PATCH", fmt.Sprintf("/api/suites/%d", a.ID), `{"name":"x"}`)
			apitest.Made[model.Suite](t, api, "POST", fmt.Sprintf("/api/suites/%d/move", b.ID), fmt.Sprintf(`{"parent_id":%d}`, d.ID))
			apitest.Made[model.Suite](t, api, "POST", fmt.Sprintf("/api/suites/%d/copy", d.ID), fmt.Sprintf(`{"parent_id":%d,"name":"copy"}`, a.ID))
			refused(204, "DELETE", fmt.Sprintf("/api/suites/%d", b.ID), "")
			tree := apitest.Made[struct{ Suites []model.Suite }](t, api, "GET", fmt.Sprintf("/api/plans/%d/tree", plan.ID), "")
			var paths []string
			for _, s := range tree.Suites {
				paths = append(paths, s.Path)
			}
			if got, want := fmt.Sprint(paths), "[ /d /x /x/copy /x/copy/é😀 /x/copy/é😀/c]"; got != want {
				t.Errorf("paths %s, want %s", got, want)
			}
			report := apitest.Made[plans.Report](t, api, "GET", fmt.Sprintf("/api/plans/%d/fsck", plan.ID), "")
			if len(report.Problems) > 0 {
				t.Errorf("problems %v", report.Problems)
			}
		})
	}
}
