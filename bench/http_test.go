package bench

import (
	"crypto/rand"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/internal/test/testchild"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

const (
	// instances of the sample app share a database, and locks if they have any.
	instances = 3
	// httpTurn is how long the clients of one contender work at a time.
	httpTurn = 2 * time.Second
)

// Changes of one plan over HTTP, on instances of the sample app: random creates, renames, moves and
// cases. Each contender has a database of its own. At the end, the sample app checks every plan
// that is asserted.
func BenchmarkHTTP(b *testing.B) {
	locks := testserver.Redis(b)
	database := durableDatabase(b)
	program, err := testchild.BuildSampleApp(b.TempDir())
	testerr.Must(b, err)
	var fleets []*fleet
	for _, rule := range []struct {
		name    string
		flags   []string
		asserts bool
	}{
		{"none", []string{"--locks", "off://", "--assert=false"}, false},
		{"assertion", []string{"--locks", "off://"}, true},
		{"whole-plan", []string{"--locks", locks, "--rule", "whole-plan"}, true},
		{"parent-exclusive", []string{"--locks", locks, "--rule", "parent-exclusive"}, true},
		{"name-slots", []string{"--locks", locks, "--rule", "name-slots"}, true},
	} {
		url := "mysql://" + databaseOn(b, database.dsn)
		flags := append([]string{"--db", url, "--namespace", rand.Text()[:8]}, rule.flags...)
		fleets = append(fleets, startFleet(b, program, rule.name, rule.asserts, flags))
	}
	for _, clients := range []int{8, 32} {
		for _, f := range fleets {
			b.Run(fmt.Sprintf("clients=%d/rule=%s", clients, f.name), func(b *testing.B) {
				f.drive(b, clients, httpTurn/4) // the first requests do not count
				var took []time.Duration
				refused, statements := 0, database.statements(b)
				for b.Loop() {
					done := f.drive(b, clients, httpTurn)
					took, refused = append(took, done.took...), refused+done.refused
				}
				statements = database.statements(b) - statements - 1
				slices.Sort(took)
				changes := float64(len(took))
				b.ReportMetric(changes/b.Elapsed().Seconds(), "changes/s")
				b.ReportMetric(took[len(took)/2].Seconds()*1000, "p50-ms")
				b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "p99-ms")
				b.ReportMetric(float64(statements)/changes, "statements/change")
				b.ReportMetric(1000*float64(refused)/(changes+float64(refused)), "refused/1000")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
	for _, f := range fleets {
		f.check(b)
	}
}
