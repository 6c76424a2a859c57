package httpapi_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/testredis"
	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// An instance that cannot write says why at start and at /readyz: a wrong password is not the same
// as a silent server. Neither message has the password, and the answer has no address.
func TestReadySaysWhatIsWrongWithTheLockStore(t *testing.T) {
	server := testredis.Start(t, testredis.Redis, "--requirepass", "s3cret")
	for _, tt := range []struct {
		name, url, password, says string
	}{
		{"nobody there", "redis://127.0.0.1:1/0?max_retries=-1", "", "does not answer"},
		{"no password", "redis://" + server.Addr + "/0", "", "refuses the user or the password"},
		{"the wrong password", "redis://:hidden@" + server.Addr + "/0", "", "refuses the user or the password"},
		{"the wrong user", "redis://somebody@" + server.Addr + "/0", "hidden", "refuses the user or the password"},
		{"no such database", "redis://:s3cret@" + server.Addr + "/999", "", "has no database of that number"},
		{"all is well", "redis://" + server.Addr + "/0", "s3cret", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log apitest.Output
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
			var problem struct{ Type, Detail string }
			if err := json.Unmarshal(answer.Body, &problem); err != nil {
				t.Fatalf("%s: %v", answer.Body, err)
			}
			if answer.Status != http.StatusServiceUnavailable || !strings.HasSuffix(problem.Type, "lock-store-unavailable") || problem.Detail != "the lock store "+tt.says {
				t.Errorf("%d %s, want 503 lock-store-unavailable: the lock store %s", answer.Status, answer.Body, tt.says)
			}
			if !strings.Contains(started, "the lock store "+tt.says) {
				t.Errorf("at start the log says %s", started)
			}
			everything := log.String() + string(answer.Body)
			if strings.Contains(everything, "hidden") || strings.Contains(everything, "s3cret") || strings.Contains(string(answer.Body), "127.0.0.1") {
				t.Errorf("the password or an address is told: %s", everything)
			}
		})
	}
}
