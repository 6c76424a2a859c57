package httpapi_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock/internal/test/testchild"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/internal/test/testredis"
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

// An instance that cannot write says why at start and at /readyz: a wrong password is not the same
// as a silent server. Neither message has the password, and the answer has no address.
func TestReadyz_saysWhatIsWrongWithTheLockStore(t *testing.T) {
	server := testredis.Start(t, testredis.Redis, "--requirepass", "s3cret")
	for _, tt := range []struct {
		name, url, password, says string
	}{
		{"nobody there", "redis://127.0.0.1:1/0?max_retries=-1", "", "does not answer"},
		{"the wrong password", "redis://:hidden@" + server.Addr + "/0", "", "refuses the user or the password"},
		{"the wrong user", "redis://somebody@" + server.Addr + "/0", "hidden", "refuses the user or the password"},
		{"all is well", "redis://" + server.Addr + "/0", "s3cret", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log testchild.Output
			api := apitest.Start(t, instance.Config{
				DB: testdb.SQLite(t), Locks: tt.url, LocksPassword: tt.password, Assert: true, Log: slog.New(slog.NewTextHandler(&log, nil)),
			})
			started := log.String()
			answer := api.Do(t, "GET", "/readyz", "")
			if tt.says == "" {
				if answer.Status != http.StatusOK || strings.Contains(started, "lock store") {
					t.Errorf("%d %s; the log says %s", answer.Status, answer.Body, started)
				}
				return
			}
			says := "the lock store " + tt.says
			if answer.Status != http.StatusServiceUnavailable || !strings.Contains(string(answer.Body), "lock-store-unavailable") || !strings.Contains(string(answer.Body), says) || !strings.Contains(started, says) {
				t.Errorf("%d %s, want 503: %s; the log says %s", answer.Status, answer.Body, says, started)
			}
			everything := log.String() + string(answer.Body)
			if strings.Contains(everything, "hidden") || strings.Contains(everything, "s3cret") || strings.Contains(string(answer.Body), "127.0.0.1") {
				t.Errorf("the password or an address is told: %s", everything)
			}
		})
	}
}

// A full lock store answers, but grants nothing. The instance is not ready, and clients learn why.
func TestReadyz_fullLockStoreIsNotReady(t *testing.T) {
	server := testredis.Start(t, testredis.Redis)
	client := redis.NewClient(&redis.Options{Addr: server.Addr})
	defer func() { _ = client.Close() }()
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "redis://" + server.Addr + "/0", Assert: true})
	ids := fixture(t, api, "full")
	testerr.Must(t, client.ConfigSet(t.Context(), "maxmemory", "1").Err())
	is(t, api, ids, "GET /readyz/reads", http.StatusOK, "the lock store is out of memory")
	for _, request := range []string{"GET /readyz", `PATCH /api/suites/{a} {"name":"x"}`} {
		is(t, api, ids, request, http.StatusServiceUnavailable, "the lock store is out of memory, and takes no writes")
	}
}

// A disk that is full is not a silent database. Reads go on, and so the instance stays ready.
func TestReadyz_fullDatabaseIsNamed(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	ids := fixture(t, api, "full")
	var pages int
	testerr.Must(t, api.DB.Pool().QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&pages))
	testerr.Must(t, testerr.Of(api.DB.Pool().ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages))))
	answer := api.Do(t, "POST", fmt.Sprintf("/api/suites/%d/cases", ids["a"]), fmt.Sprintf(`{"name":"large","body":%q}`, strings.Repeat("x", 100_000)))
	if says := "the database is out of disk space"; answer.Status != http.StatusServiceUnavailable || !strings.Contains(string(answer.Body), says) {
		t.Errorf("%d %s, want 503: %s", answer.Status, answer.Body, says)
	}
	is(t, api, ids, "GET /readyz", http.StatusOK, "")
}

// Balancers wait for a second. A lock store that hangs takes no reads away.
func TestReadyz_ReadsGoOnWhereTheLockStoreHangs(t *testing.T) {
	server := testredis.Start(t, testredis.Redis)
	proxy := testnet.StartProxy(t, server.Addr, 0)
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "redis://" + proxy.Addr() + "/0", Assert: true})
	is(t, api, nil, "GET /readyz", http.StatusOK, "")
	proxy.Pause()
	defer proxy.Resume()
	begun := time.Now()
	is(t, api, nil, "GET /readyz/reads", http.StatusOK, `"writes":"the lock store does not answer"`)
	if took := time.Since(begun); took >= time.Second {
		t.Errorf("it took %v", took)
	}
}
