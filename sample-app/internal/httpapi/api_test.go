package httpapi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	// A Redis client whose server does not answer tries once a second until it notices its Close.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

// The fixture of every test: a plan {plan} with the root suite {root}, and
//
//	/a  {a}
//	/a/b  {b}    with the case k {k}
//	/a/b/c  {c}
//	/d  {d}
//
// and another plan {other} of the same project, with the root suite {oroot}.
func fixture(t *testing.T, api *apitest.API, project string) map[string]int64 {
	ids := map[string]int64{}
	plan := func(key, root string) {
		p := apitest.Made[plans.Plan](t, api, "POST", "/api/projects/"+project+"/plans", `{"name":"`+key+`"}`)
		ids[key], ids[root] = p.ID, p.RootID
	}
	plan("plan", "root")
	plan("other", "oroot")
	for _, s := range []struct{ key, parent string }{{"a", "root"}, {"b", "a"}, {"c", "b"}, {"d", "root"}} {
		body := fmt.Sprintf(`{"parent_id":%d,"name":"%s"}`, ids[s.parent], s.key)
		ids[s.key] = apitest.Made[plans.Suite](t, api, "POST", fmt.Sprintf("/api/plans/%d/suites", ids["plan"]), body).ID
	}
	ids["k"] = apitest.Made[plans.Case](t, api, "POST", fmt.Sprintf("/api/suites/%d/cases", ids["b"]), `{"name":"k","body":"steps"}`).ID
	return ids
}

// is sends a request, "METHOD path" or "METHOD path body", with the fixture's ids for the words in
// braces, and requires a status and a part of the answer. A problem is :problem:slug.
func is(t *testing.T, api *apitest.API, ids map[string]int64, request string, status int, want string) apitest.Answer {
	t.Helper()
	method, rest, _ := strings.Cut(expand(request, ids), " ")
	path, body, _ := strings.Cut(rest, " ")
	answer := api.Do(t, method, path, body)
	if answer.Status != status || !strings.Contains(string(answer.Body), want) {
		t.Fatalf("%.200s -> %d %.500s, want %d %s", request, answer.Status, answer.Body, status, want)
	}
	return answer
}

// expand replaces the words in braces by ids.
func expand(text string, ids map[string]int64) string {
	for key, id := range ids {
		text = strings.ReplaceAll(text, "{"+key+"}", fmt.Sprint(id))
	}
	return text
}

// Metrics count requests by routes, and not by names that clients make up.
func TestMetrics(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	ids := fixture(t, api, "metrics")
	is(t, api, ids, "GET /api/suites/{a}", 200, "")
	is(t, api, ids, "GET /no/such/route", 404, ":problem:not-found")
	is(t, api, ids, "MADEUP /api/suites/{a}", 405, ":problem:method-not-allowed")
	text := string(api.Do(t, "GET", "/metrics", "").Body)
	for _, want := range []string{
		`http_request_duration_seconds_count{method="GET",route="/api/suites/:id",status="200"} 1`,
		`http_request_duration_seconds_count{method="GET",route="none",status="404"} 1`,
		`http_request_duration_seconds_count{method="other",route="none",status="405"} 1`,
		// Two plans, each the name gate and then the tree for its root suite, four suites and a
		// case.
		`pathlock_acquisitions_total{operation="insert",outcome="granted"} 5`,
		`pathlock_held 0`,
		`go_sql_open_connections{db_name="sqlite"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("the metrics do not say %s", want)
		}
	}
}

// A change and its answer are one transaction: where the answer cannot be recorded, nothing is
// changed.
func TestKeys_nothingChangesWithoutItsAnswer(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	ids := fixture(t, api, "recorded")
	failed := errors.New("the answer is not recorded")
	ctx := plans.Recording(t.Context(), func(*gorm.DB, any) error { return failed })
	testerr.Is(t, "a change whose answer is not recorded", testerr.Of(api.Service.CreateSuite(ctx, ids["plan"], ids["root"], "new")), failed)
	is(t, api, ids, `POST /api/plans/{plan}/suites {"parent_id":{root},"name":"new"}`, 201, "")
}
