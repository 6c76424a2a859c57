package gormplugintest

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/offstore"
	"gorm.io/gorm"
)

// seedsVariable is the environment variable that says how many storms are raised for every store,
// database and isolation level.
const seedsVariable = "PATHLOCK_TEST_SEEDS"

// seeds returns what to raise storms from. A seed decides what each worker does, and not in which
// order the workers come to it: a seed that has failed may have to be tried a few times.
func seeds(t *testing.T) []uint64 {
	t.Helper()
	n := 1
	if text := os.Getenv(seedsVariable); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s=%q is no number", seedsVariable, text)
		}
	}
	all := make([]uint64, n)
	for i := range all {
		all[i] = rand.Uint64()
	}
	return all
}

// RunStorms has workers do everything that can be done to a tree at once, under a lock store that
// locks and under one that grants everything, and has an independent reader look at the tree,
// meanwhile and afterwards: it is sound at every moment. The anomalies show that the reader sees
// what happens without the assertion.
//
// Transactions ask for the given isolation levels, each for one at random; without any, they run
// under the session's. The environment sets how many storms there are; see [seedsVariable].
func RunStorms(t *testing.T, d Database, isolations ...sql.IsolationLevel) {
	t.Helper()
	migrate(t, d)
	checkStorms(t, d, isolations...)
}

func checkStorms(t *testing.T, d Database, isolations ...sql.IsolationLevel) {
	t.Helper()
	suites, ids, both := shapes()[0], shapes()[1], shapes()[2]
	for _, c := range []struct {
		name string
		storm
		store pathlock.Store
	}{
		{"a store that locks", storm{of: suites, rooted: true}, memstore.New()},
		{"a store that grants everything", storm{of: suites, rooted: true}, offstore.New()},
		{"no root row, " + ids.name, storm{of: ids}, offstore.New()},
		{"no root row, " + both.name, storm{of: both}, offstore.New()},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, seed := range seeds(t) {
				c.isolations, c.seed = isolations, seed
				if found := c.rage(t, d, settings{store: c.store}); len(found) > 0 {
					t.Errorf("seed %d: %v", seed, found)
				}
			}
		})
	}
}

// storm is one run of the workload.
type storm struct {
	of shape
	// rooted is set for a tree that has a root row, and some rows below it.
	rooted     bool
	isolations []sql.IsolationLevel
	seed       uint64
}

// rage runs the workload and returns what the reader found wrong.
func (s storm) rage(t *testing.T, d Database, set settings) []string {
	t.Helper()
	const workers = 4
	each := 25
	if d.SoleWriter {
		each = 10 // they wait for each other anyway
	}
	// Who holds rows while it waits for a path, and who holds the path while it waits for the rows,
	// wait for each other until this time is up.
	const wait = 50 * time.Millisecond
	set.options = append(set.options, gormplugin.TransactionWait(wait))
	// Save may insert a row whose id a deleted one has.
	set.config.TranslateError = true
	// The tree to begin with is made under a store that tells the truth.
	honest := newWorld(t, d, settings{})
	set.root = honest.root
	x, tree := honest.tableOf(s.of), s.of.tree()
	if s.rooted {
		tree = honest.root.PlanID
		for _, p := range []string{"/a/b/c", "/a/d", "/e/f"} {
			honest.build(p)
		}
	}
	w := newWorld(t, d, set)
	look := lookAt(open(t, d, settings{}, new(trace)), d, x, tree)
	stop, stopped := make(chan struct{}), make(chan []string, 1)
	go func() {
		for {
			found := look()
			if len(found) > 0 {
				stopped <- found
				return
			}
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
		}
	}()
	var all sync.WaitGroup
	loads := make([]*workload, workers)
	for i := range loads {
		loads[i] = &workload{world: w, of: x, tree: tree, isolations: s.isolations, random: rand.New(rand.NewPCG(s.seed, uint64(i)))}
		all.Go(func() {
			for range each {
				loads[i].step(context.Background())
			}
		})
	}
	all.Wait()
	close(stop)
	found := <-stopped
	if len(found) == 0 {
		found = look()
	}
	succeeded := 0
	for _, l := range loads {
		t.Log(l.did)
		succeeded += l.did.succeeded
	}
	if succeeded == 0 {
		t.Error("nothing succeeded")
	}
	return found
}

// lookAt returns a function that reads what is committed of a tree, in one statement, which sees
// one state of it.
func lookAt(reader *gorm.DB, d Database, x *table, tree any) func() []string {
	var opts []*sql.TxOptions
	if !d.SoleWriter {
		opts = append(opts, &sql.TxOptions{Isolation: sql.LevelReadCommitted, ReadOnly: true})
	}
	return func() (found []string) {
		err := reader.Transaction(func(tx *gorm.DB) error {
			_, found = x.problems(tx, tree)
			return nil
		}, opts...)
		if err != nil {
			found = append(found, err.Error())
		}
		return found
	}
}
