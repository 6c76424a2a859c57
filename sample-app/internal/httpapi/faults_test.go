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
	is(t, api, ids, "GET /api/suites/{a}", 200, `"name":"a","path":"/a","version":1`)
	is(t, api, ids, "GET /healthz", 200, "")
	is(t, api, ids, "GET /readyz/reads", 200, `"writes":"the lock store does not answer"`)
	counted(t, api, "lock-store-unavailable", 6) // the refusals before, and this look
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
	is(t, api, ids, "GET /healthz", 200, "")
	is(t, api, ids, "GET /readyz/reads", 503, ":problem:database-unavailable")
	is(t, api, ids, "GET /api/suites/{a}", 503, ":problem:database-unavailable")
}

// refused checks that every change gets 503 with the reason, and that the instance is not ready.
func refused(t *testing.T, api *apitest.API, ids map[string]int64, problem string) {
	t.Helper()
	for n, request := range []string{
		`POST /api/plans/{plan}/suites {"parent_id":{root},"name":"x"}`,
		`PATCH /api/suites/{a} {"name":"x"}`,
		`POST /api/suites/{a}/move {"parent_id":{d}}`,
		`POST /api/suites/{a}/cases {"name":"x"}`,
		`GET /readyz`,
	} {
		header := is(t, api, ids, request, 503, ":problem:"+problem).Header
		if seconds, err := strconv.Atoi(header.Get("Retry-After")); err != nil || seconds < 1 {
			t.Errorf("%s: Retry-After is %q, want whole seconds", request, header.Get("Retry-After"))
		}
		counted(t, api, problem, n+1)
	}
}

// counted checks how many problems of a type have been counted.
func counted(t *testing.T, api *apitest.API, problem string, want int) {
	t.Helper()
	line := fmt.Sprintf("\npathlock_problems_total{type=%q} %d\n", problem, want)
	if metrics := string(api.Do(t, "GET", "/metrics", "").Body); !strings.Contains(metrics, line) {
		t.Errorf("the metrics lack %q", line)
	}
}
