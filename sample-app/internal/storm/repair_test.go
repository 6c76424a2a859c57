package storm

import (
	"log/slog"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/sample-app/internal/database"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/schema"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
	"github.com/pathlock-go/pathlock/sample-app/internal/treecheck"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// A repair mends a tree that unprotected clients have really corrupted, and loses no row. The
// storm's own checker judges it, which shares nothing with package fsck. PATHLOCK_TEST_STORM is the
// length of the storm in seconds.
func TestRepairAfterStorm(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	duration := 700 * time.Millisecond
	if seconds, err := strconv.Atoi(os.Getenv("PATHLOCK_TEST_STORM")); err == nil {
		duration = time.Duration(seconds) * time.Second
	}
	for _, kind := range testdb.All(t) {
		url := kind.URL
		t.Run(kind.Name, func(t *testing.T) {
			db := testdb.Open(t, url)
			if err := schema.Migrate(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if err := schema.DropSiblingIndex(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			config := Config{
				DB: url, Locks: memoryLocks, Instances: 2, Clients: 6, Duration: duration, Think: 2 * time.Millisecond, Seed: 1,
				Log: slog.New(slog.DiscardHandler),
			}
			instances, err := start(t.Context(), config, protections[0], instance.Config{DB: url, Namespace: "repair"})
			if err != nil {
				t.Fatal(err)
			}
			var broken []treecheck.Problem
			var before int
			for len(broken) == 0 { // until it has broken something
				if _, err := drive(t.Context(), config, instances.addrs()); err != nil {
					t.Fatal(err)
				}
				if broken, before, err = verify(t.Context(), db); err != nil {
					t.Fatal(err)
				}
			}
			if err := instances.stop(); err != nil {
				t.Fatal(err)
			}

			dialects := map[database.Dialect]fsck.Dialect{database.SQLite: fsck.SQLite, database.MySQL: fsck.MySQL, database.Postgres: fsck.PostgreSQL}
			table := fsck.DefaultTable("suites")
			table.Version = "version"
			checker, err := fsck.New(t.Context(), db.Pool(), dialects[db.Dialect], table)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			outcome, err := checker.Repair(t.Context(), fsck.RepairOptions{Apply: true, Locker: pathlock.New(memstore.New())})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d rows, %d problems to the storm's checker; before %v, %d changes in %d transactions, %v",
				before, len(broken), outcome.Before.Problems, outcome.Changes, outcome.Transactions, time.Since(began))

			problems, after, err := verify(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range problems {
				t.Errorf("left: %+v", p)
			}
			created := after - before
			if created < 0 || created > 1 {
				t.Errorf("%d rows, and %d before: want the same, or one more for lost+found", after, before)
			}
		})
	}
}
