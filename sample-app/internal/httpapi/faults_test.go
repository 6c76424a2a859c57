package httpapi_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	mysqldriver "github.com/go-sql-driver/mysql"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// Without its lock store, the backend serves reads and refuses writes.
func TestLockStoreUnavailable(t *testing.T) {
	db := testdb.SQLite(t)
	healthy := apitest.Start(t, instance.Config{DB: db, Locks: "memory://", Assert: true})
	ids := fixture(t, healthy, "unavailable")
	api := apitest.Start(t, instance.Config{DB: db, Locks: "redis://127.0.0.1:1/0?max_retries=-1&dial_timeout=1s", Assert: true})
	refused(t, api, ids, "lock-store-unavailable")
	step{request: "GET /api/suites/{a}", status: 200, want: `"name":"a","path":"/a","version":1`}.run(t, api, ids)
	step{request: "GET /healthz", status: 200}.run(t, api, ids)
	step{request: "GET /readyz/reads", status: 200, want: `"writes":"the lock store does not answer"`}.run(t, api, ids)
	counted(t, api, "lock-store-unavailable", 7) // the refusals before, and this look
}

// Without its database, the backend says so.
func TestDatabaseUnavailable(t *testing.T) {
	server := testserver.MySQLServer{DSN: testserver.MySQL(t)}
	cfg, err := mysqldriver.ParseDSN(strings.TrimPrefix(testdb.MySQL(t, server), "mysql://"))
	testerr.Must(t, err)
	proxy := testnet.StartProxy(t, cfg.Addr, 0)
	cfg.Addr = proxy.Addr()
	api := apitest.Start(t, instance.Config{DB: "mysql://" + cfg.FormatDSN(), Locks: "memory://", Assert: true})
	ids := fixture(t, api, "unavailable")
	testerr.Must(t, proxy.Close())
	refused(t, api, ids, "database-unavailable")
	step{request: "GET /healthz", status: 200}.run(t, api, ids)
	step{request: "GET /readyz/reads", status: 503, problem: "database-unavailable"}.run(t, api, ids)
	step{request: "GET /api/suites/{a}", status: 503, problem: "database-unavailable"}.run(t, api, ids)
}

// refused checks that every change gets 503 with the reason, and that the instance is not ready.
func refused(t *testing.T, api *apitest.API, ids map[string]int64, problem string) {
	t.Helper()
	requests := []string{
		`POST /api/plans/{plan}/suites {"parent_id":{root},"name":"x"}`,
		`PATCH /api/suites/{a} {"name":"x"}`,
		`POST /api/suites/{a}/move {"parent_id":{d}}`,
		`POST /api/suites/{a}/cases {"name":"x"}`,
		`GET /readyz`,
	}
	for _, request := range requests {
		s := step{request: request, status: 503, problem: problem}
		s.run(t, api, ids)
	}
	answer := api.Do(t, "PATCH", fmt.Sprintf("/api/suites/%d", ids["a"]), `{"name":"x"}`)
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err != nil || seconds < 1 {
		t.Errorf("Retry-After: %q, want whole seconds", answer.Header.Get("Retry-After"))
	}
	counted(t, api, problem, len(requests)+1)
}

// counted checks how many problems of a type have been counted.
func counted(t *testing.T, api *apitest.API, problem string, want int) {
	t.Helper()
	line := fmt.Sprintf("\npathlock_problems_total{type=%q} %d\n", problem, want)
	if metrics := string(api.Do(t, "GET", "/metrics", "").Body); !strings.Contains(metrics, line) {
		t.Errorf("the metrics lack %q", line)
	}
}
