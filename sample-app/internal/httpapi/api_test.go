package httpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"

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

// step is one request and its expected answer. Words in braces stand for ids of the fixture, and
// for ids that earlier steps saved.
type step struct {
	request string // "METHOD path" or "METHOD path body"
	status  int
	// problem is the end of a failure's type.
	problem string
	// want is a part of the answer.
	want string
	// save keeps the id in the answer under a name.
	save string
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

// run sends the step's request and compares the answer.
func (s step) run(t *testing.T, api *apitest.API, ids map[string]int64) {
	t.Helper()
	method, rest, _ := strings.Cut(expand(s.request, ids), " ")
	path, body, _ := strings.Cut(rest, " ")
	answer := api.Do(t, method, path, body)
	if answer.Status != s.status || s.problem != "" && !strings.Contains(string(answer.Body), `"urn:pathlock:problem:`+s.problem+`"`) ||
		!strings.Contains(string(answer.Body), expand(s.want, ids)) {
		t.Fatalf("%.200s -> %d %.500s, want %d %s %s", s.request, answer.Status, answer.Body, s.status, s.problem, s.want)
	}
	if s.save != "" {
		var row struct{ ID int64 }
		testerr.Must(t, json.Unmarshal(answer.Body, &row))
		ids[s.save] = row.ID
	}
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
	step{request: "GET /api/suites/{a}", status: 200}.run(t, api, ids)
	step{request: "GET /no/such/route", status: 404, problem: "not-found"}.run(t, api, ids)
	step{request: "MADEUP /api/suites/{a}", status: 405, problem: "method-not-allowed"}.run(t, api, ids)
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
