package httpapi_test

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/httpapi"
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

// A change and its answer are one transaction: if the answer cannot be recorded, nothing is
// changed.
func TestKeys_nothingChangesWithoutItsAnswer(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	ids := fixture(t, api, "recorded")
	failed := errors.New("the answer is not recorded")
	ctx, s := plans.Recording(t.Context(), func(*gorm.DB, any) error { return failed }), api.Service
	before := is(t, api, ids, `GET /api/plans/{plan}/tree`, 200, "")
	for what, err := range map[string]error{
		"an insert":              testerr.Of(s.CreateSuite(ctx, ids["plan"], ids["root"], "new")),
		"a deletion of a suite":  s.DeleteSuite(ctx, ids["a"]),
		"a deletion of a case":   s.DeleteCase(ctx, ids["k"]),
		"a deletion of a plan":   s.DeletePlan(ctx, ids["plan"]),
		"a purge of the bin":     s.Purge(ctx, ids["plan"]),
		"an edit without a path": testerr.Of(s.EditCase(ctx, ids["k"], plans.CaseChange{Body: new("x")})),
	} {
		testerr.Is(t, what+" whose answer is not recorded", err, failed)
	}
	is(t, api, ids, `GET /api/plans/{plan}/tree`, 200, string(before.Body))
	is(t, api, ids, `GET /api/suites/{b}/cases`, 200, `"body":"steps"`)
}

// The more a change locks, the more of what others hold is in its way.
func TestRuleSaysHowMuchAChangeLocks(t *testing.T) {
	for _, tt := range []struct {
		held  string // what somebody else has locked
		in    map[httpapi.Rule]int
		asked string
	}{
		{"x", map[httpapi.Rule]int{"": 201, httpapi.NameSlots: 201, httpapi.ParentExclusive: 423, httpapi.WholePlan: 423}, `POST /api/plans/{plan}/suites {"parent_id":{d},"name":"n"}`},
		{"a", map[httpapi.Rule]int{"": 201, httpapi.NameSlots: 201, httpapi.ParentExclusive: 201, httpapi.WholePlan: 423}, `POST /api/plans/{plan}/suites {"parent_id":{d},"name":"n"}`},
		{"c", map[httpapi.Rule]int{"": 201, httpapi.NameSlots: 201, httpapi.ParentExclusive: 423, httpapi.WholePlan: 423}, `POST /api/suites/{b}/cases {"name":"n"}`},
		{"d", map[httpapi.Rule]int{"": 200, httpapi.NameSlots: 200, httpapi.ParentExclusive: 200, httpapi.WholePlan: 423}, `PATCH /api/suites/{b} {"name":"e"}`},
	} {
		for rule, status := range tt.in {
			t.Run(fmt.Sprint(tt.asked, " beside ", tt.held, " by ", rule), func(t *testing.T) {
				api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true, Rule: rule, Wait: -1})
				ids := fixture(t, api, "rule")
				ids["x"] = apitest.Made[plans.Suite](t, api, "POST", expand("/api/plans/{plan}/suites", ids), expand(`{"parent_id":{d},"name":"x"}`, ids)).ID
				is(t, api, ids, `POST /api/suites/{`+tt.held+`}/lock {"for":"1m"}`, 201, "")
				is(t, api, ids, tt.asked, status, "")
			})
		}
	}
}

// The index lists every route. The routes take the bodies that it shows, and HEAD is wherever GET
// is: it answers with the same status and type, and no body.
func TestIndex_isTrue(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	ids := fixture(t, api, "p")
	existing := strings.NewReplacer(":project", "p", ":plan", fmt.Sprint(ids["plan"]), ":id", fmt.Sprint(ids["a"]), ":file", "main.js")
	missing := strings.NewReplacer(":project", "demo", ":plan", "99", ":id", "99", ":item", "99")
	index := api.Do(t, "GET", "/", "").Body
	if string(api.Do(t, "GET", "/routes", "", "Accept", asBrowser).Body) != string(index) {
		t.Error("a browser gets another index at /routes than programs get at /")
	}
	listed := regexp.MustCompile(`(?m)^([A-Z]+) +(/\S*) *(.*)$`).FindAllStringSubmatch(string(index), -1)
	if len(listed) < 30 {
		t.Errorf("the index has %d routes", len(listed))
	}
	for _, line := range listed {
		method, route, body := line[1], line[2], line[3]
		writes := method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
		if wants := writes && !strings.HasSuffix(route, "/restore"); wants != (body != "") {
			t.Errorf("%s %s has the body %q", method, route, body)
		}
		if method == http.MethodGet {
			path := existing.Replace(route)
			get, head := api.Do(t, "GET", path, ""), api.Do(t, "HEAD", path, "")
			if head.Status != get.Status || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") || len(head.Body) > 0 {
				t.Errorf("HEAD %s: %d %v, GET: %d", path, head.Status, head.Header, get.Status)
			}
		}
		if body == "" {
			continue
		}
		// There is no such plan, suite or case, but a wrong body would be noticed first.
		if answer := api.Do(t, method, missing.Replace(route), body); answer.Status != http.StatusNotFound && answer.Status != http.StatusCreated {
			t.Errorf("%s: %d %s", line[0], answer.Status, answer.Body)
		}
	}
}

// Where names are listed, the server answers under these alone, as behind a proxy. Unless it is
// told otherwise, nobody releases locks of others there.
func TestHosts_areAnswered(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true, Hosts: []string{"plans.example"}})
	for host, status := range map[string]int{"plans.example:443": http.StatusOK, "localhost": http.StatusMisdirectedRequest} {
		for _, path := range []string{"/healthz", "/admin/locks/"} {
			if answer := api.Do(t, "GET", path, "", "Host", host); answer.Status != status {
				t.Errorf("GET %s as %s: %d, want %d", path, host, answer.Status, status)
			}
		}
	}
	release := api.Do(t, "POST", "/admin/locks/api/release", `{"namespace":"a","id":"b","key":"c","reason":"because"}`, "Host", "plans.example", "Content-Type", "application/json")
	if release.Status != http.StatusForbidden || !strings.Contains(string(release.Body), "read-only") {
		t.Errorf("release: %d %s", release.Status, release.Body)
	}
}
