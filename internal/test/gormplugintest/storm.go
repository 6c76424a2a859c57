package gormplugintest

import (
	"cmp"
	"context"
	"database/sql"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/offstore"
	"gorm.io/gorm"
)

// The environment variables of the storms: how many are raised for every store, database and
// isolation level, one unless set, and the one seed to raise them from instead of random ones.
const (
	seedsVariable = "PATHLOCK_TEST_SEEDS"
	seedVariable  = "PATHLOCK_TEST_SEED"
)

// seeds returns what to raise storms from. A seed decides what each worker does, and not in which
// order the workers come to it: a seed that has failed may have to be tried a few times.
func seeds(t *testing.T) (all []uint64) {
	t.Helper()
	number := func(name, otherwise string) uint64 {
		n, err := strconv.ParseUint(cmp.Or(os.Getenv(name), otherwise), 10, 64)
		testerr.MustBe(t, name, err, nil)
		return n
	}
	if os.Getenv(seedVariable) != "" {
		return []uint64{number(seedVariable, "")}
	}
	for range number(seedsVariable, "1") {
		all = append(all, rand.Uint64())
	}
	return all
}

// lyingStore is a way in which a lock store fails those who rely on it; the first one does not.
type lyingStore struct {
	name  string
	store func() pathlock.Store
}

func lyingStores() []lyingStore {
	const memory = 50 * time.Millisecond
	return []lyingStore{
		{"locks", memstore.New},
		{"grants everything", offstore.New},
		{"comes and goes", func() pathlock.Store { return comingAndGoing(memory) }},
	}
}

// RunStorms has workers do everything that can be done to a tree at once, under a lock store that
// locks and under ones that lie in every way, and has an independent reader look at the tree,
// meanwhile and afterwards: it is sound at every moment. The anomalies show that the reader sees
// what happens without the assertion.
//
// Transactions ask for the given isolation levels, each for one at random; without any, they run
// under the session's. The environment sets how many storms there are; see seedsVariable.
func RunStorms(t *testing.T, d Database, isolations ...sql.IsolationLevel) {
	t.Helper()
	migrate(t, d)
	if d.DirtyReads {
		runAll(t, d, []topic{{"dirty reads", checkDirtyReads}})
	}
	checkStorms(t, d, isolations...)
}

func checkStorms(t *testing.T, d Database, isolations ...sql.IsolationLevel) {
	t.Helper()
	rage := func(t *testing.T, of shape, rooted bool, liar lyingStore) {
		t.Helper()
		for _, seed := range seeds(t) {
			s := storm{of: of, rooted: rooted, isolations: isolations, seed: seed}
			if found := s.rage(t, d, settings{store: liar.store()}); len(found) > 0 {
				t.Errorf("%s=%d: %v", seedVariable, seed, found)
			}
		}
	}
	for _, liar := range lyingStores() {
		t.Run("a store that "+liar.name, func(t *testing.T) { rage(t, shapes()[0], true, liar) })
	}
	// Of a server, the further kinds of table have one storm each: of transactions at all levels.
	if !d.SoleWriter && len(isolations) == 0 || d.Again {
		return
	}
	for _, of := range shapes() {
		if !of.stormy {
			continue
		}
		t.Run("no root row, "+of.name, func(t *testing.T) { rage(t, of, false, lyingStores()[1]) })
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
	x, trees := honest.tableOf(s.of), []any{s.of.tree(), s.of.tree()}
	if !x.full {
		x.leaf = nil // which NewPlugin does not guard
	}
	if s.rooted {
		trees[0] = honest.root.PlanID
		for _, p := range []string{"/a/b/c", "/a/d", "/e/f"} {
			honest.build(p)
		}
	}
	w := newWorld(t, d, set)
	look := lookAt(open(t, d, settings{}, new(trace)), d, x, trees)
	stop, stopped := make(chan struct{}), make(chan []string, 1)
	go func() {
		for over := false; !over; {
			select {
			case <-stop:
				over = true
			default:
			}
			if found := look(); over || len(found) > 0 {
				stopped <- found
				return
			}
		}
	}()
	var all sync.WaitGroup
	loads := make([]*workload, workers)
	dirtyReads := d.DirtyReads || slices.Contains(s.isolations, sql.LevelReadUncommitted)
	for i := range loads {
		random := rand.New(rand.NewPCG(s.seed, uint64(i)))
		loads[i] = &workload{world: w, of: x, trees: trees, isolations: s.isolations, dirtyReads: dirtyReads, random: random}
		all.Go(func() {
			for range each {
				loads[i].step(context.Background())
			}
		})
	}
	all.Wait()
	close(stop)
	found := <-stopped
	succeeded := 0
	for _, l := range loads {
		t.Log(l.did)
		succeeded += l.did.succeeded
	}
	if succeeded == 0 {
		t.Error("nothing succeeded, which shows nothing")
	}
	return found
}

// lookAt returns a function that reads what is committed of each tree, in one statement, which sees
// one state of it.
func lookAt(reader *gorm.DB, d Database, x *table, trees []any) func() []string {
	var opts []*sql.TxOptions
	if !d.SoleWriter {
		opts = append(opts, &sql.TxOptions{Isolation: sql.LevelReadCommitted, ReadOnly: true})
	}
	return func() (found []string) {
		err := reader.Transaction(func(tx *gorm.DB) error {
			for _, tree := range trees {
				_, wrong := x.problems(tx, tree)
				found = append(found, wrong...)
			}
			return nil
		}, opts...)
		if err != nil {
			found = append(found, err.Error())
		}
		return found
	}
}
