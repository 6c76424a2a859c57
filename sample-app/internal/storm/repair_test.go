package storm

import (
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// A repair mends a tree that unprotected clients have really corrupted, and loses no row.
func TestRepairAfterStorm(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	for _, kind := range testdb.All(t) {
		t.Run(kind.Name, func(t *testing.T) {
			config := Config{Instances: 2, Clients: 6, Duration: 700 * time.Millisecond, Seed: 1}
			var addrs []string
			for range config.Instances {
				addrs = append(addrs, apitest.Start(t, instance.Config{DB: kind.URL, Locks: "off://"}).URL[len("http://"):])
			}
			var broken []fsck.Problem
			var before int64
			for len(broken) == 0 { // until it has broken something
				_, err := drive(t.Context(), config, addrs)
				if err == nil {
					broken, before, err = verify(t.Context(), kind.URL)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			db := testdb.Open(t, kind.URL)
			table := fsck.DefaultTable("suites")
			table.Version = "version"
			checker, err := fsck.New(t.Context(), db.Pool(), fsck.Dialect(db.Dialect), table)
			if err != nil {
				t.Fatal(err)
			}
			outcome, err := checker.Repair(t.Context(), fsck.RepairOptions{Apply: true, Locker: pathlock.New(memstore.New())})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d rows, %d problems to the storm's checker; before %v, %d changes in %d transactions",
				before, len(broken), outcome.Before.Problems, outcome.Changes, outcome.Transactions)
			problems, after, err := verify(t.Context(), kind.URL)
			if err != nil || len(problems) > 0 {
				t.Errorf("left: %+v, %v", problems, err)
			}
			if created := after - before; created < 0 || created > 1 {
				t.Errorf("%d rows, and %d before: want the same, or one more for lost+found", after, before)
			}
		})
	}
}
