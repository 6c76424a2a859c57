package httpapi_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/database"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// A client that disconnects while the database works for it counts as a client that went away, in
// metrics and log, and not as a lost database.
func TestAClientThatWentAwayIsNoFailure(t *testing.T) {
	for _, backend := range apitest.Backends(t) {
		t.Run(backend.Name, func(t *testing.T) {
			var log apitest.Output
			api := apitest.Start(t, instance.Config{DB: backend.DB, Locks: backend.Locks, Assert: true, Log: slog.New(slog.NewTextHandler(&log, nil))})
			ids := fixture(t, api, "gone")
			// Somebody else holds the rows, and on SQLite the whole file.
			db := testdb.Open(t, backend.DB)
			blocker := db.Write.Begin()
			if db.Dialect != database.SQLite {
				blocker.Exec(`SELECT id FROM suites FOR UPDATE`)
			}
			if blocker.Error != nil {
				t.Fatal(blocker.Error)
			}
			defer blocker.Rollback()
			metrics := func(want string) bool { return strings.Contains(string(api.Do(t, "GET", "/metrics", "").Body), want) }
			awaited(t, "the locks of the fixture are released", func() bool { return metrics("\npathlock_held 0\n") })
			ctx, hangUp := context.WithCancel(t.Context())
			answered := make(chan string, 1)
			go func() {
				answer, err := api.Try(ctx, "PATCH", fmt.Sprintf("/api/suites/%d", ids["a"]), `{"name":"x"}`)
				if err == nil {
					answered <- fmt.Sprintf("%d %s", answer.Status, answer.Body)
				}
				close(answered)
			}()
			awaited(t, "the request holds its locks", func() bool {
				if len(answered) > 0 {
					t.Fatalf("the request was answered: %s\n%s\n%s", <-answered, &log, api.Do(t, "GET", "/metrics", "").Body)
				}
				return !metrics("\npathlock_held 0\n")
			})
			hangUp()
			if answer, ok := <-answered; ok {
				t.Errorf("the request was answered: %s", answer)
			}
			awaited(t, "the request has ended", func() bool { return metrics("\npathlock_held 0\n") })
			counted := func(status string) bool {
				return metrics(`http_request_duration_seconds_count{method="PATCH",route="/api/suites/:id",status="` + status + `"} 1`)
			}
			awaited(t, "it is counted", func() bool {
				return counted("499") || counted("200") || counted("423") || counted("500") || counted("503")
			})
			if !counted("499") {
				t.Errorf("it is counted otherwise:\n%s", api.Do(t, "GET", "/metrics", "").Body)
			}
			if text := log.String(); !strings.Contains(text, "status=499") || strings.Contains(text, "level=WARN") || strings.Contains(text, "level=ERROR") {
				t.Errorf("the log says %s; want that the client went away, and no failure", text)
			}
		})
	}
}

// awaited waits until a condition holds.
func awaited(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); {
		if time.Now().After(end) {
			t.Fatalf("in vain: %s", what)
		}
	}
}
