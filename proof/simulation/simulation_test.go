// The client's pauses are random, and follow from the seed, too.
//
//go:debug randseednop=0
package simulation

import (
	"fmt"
	oldrand "math/rand"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9/logging"

	"github.com/pathlock-go/pathlock/proof/budget"
)

// Only on one processor do simultaneous events have one order.
func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(400)
	logging.Disable()
	os.Exit(m.Run())
}

// run lets one world go on to its end.
func run(t *testing.T, seed uint64, on servers, kinds ...kind) (w *world) {
	t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
		cryptotest.SetGlobalRandom(t, seed)
		oldrand.Seed(int64(seed)) //nolint:staticcheck // the client's
		synctest.Test(t, func(t *testing.T) {
			w = newWorld(t, seed, on, kinds...)
			w.run()
		})
	})
	return w
}

// TestSimulation runs one world after the other.
func TestSimulation(t *testing.T) { runAll(t, redisOrTickets) }

// TestSimulation_memory runs many more, and smaller ones, on package memstore.
func TestSimulation_memory(t *testing.T) { runAll(t, memoryAlone) }

func runAll(t *testing.T, on servers) {
	began, seed := time.Now(), budget.Seed()
	var worlds, calls, grants, faults int
	var simulated time.Duration
	for next := seed; worlds == 0 || time.Since(began) < budget.Time() && !t.Failed(); next++ {
		w := run(t, next, on, quiet, faulty, lossy)
		if worlds++; t.Failed() {
			t.Logf("to repeat it: make prove SEED=%d", next)
		}
		calls, grants, faults = calls+w.calls, grants+w.grants, faults+w.faults
		simulated += w.ends.Sub(w.epoch)
	}
	budget.Report(t, "worlds", worlds, "hours", int(simulated.Hours()), "calls", calls, "grants", grants, "faults", faults, "seed", seed, "seconds", int(time.Since(began).Seconds()))
}

// TestSimulation_repeats: a seed has the same world again, to the nanosecond, if no two things that
// happen at one moment depend on each other.
func TestSimulation_repeats(t *testing.T) {
	seed := budget.Seed()
	for _, on := range []servers{redisAlone, ticketsAlone, memoryAlone} {
		first, repeats := run(t, seed, on, quiet), false
		for n := 0; n < 4 && !repeats && !t.Failed(); n++ { // two things may have happened at one moment
			repeats = first.trace == run(t, seed, on, quiet).trace
		}
		if !repeats && !t.Failed() {
			t.Errorf("seed %d on %T: %d calls and %d grants, and then others", seed, first.server, first.calls, first.grants)
		}
	}
}
