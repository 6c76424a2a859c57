package section

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// renewDepth is the depth of the held leaf in each tree.
const renewDepth = 8

// renewal measures what the process spends to keep the leases of few, many and very many trees
// alive.
func renewal(ctx context.Context, env *Env) (_ result, err error) {
	store, err := openStore(env, "renewal")
	if err != nil {
		return result{}, err
	}
	defer closeStore(ctx, store, &err)
	var r result
	for _, s := range []struct {
		id, name string
		open     func() pathlock.Store
	}{
		{"memory", "memory store", func() pathlock.Store { return memstore.New() }},
		{"redis", "Redis", func() pathlock.Store { return store.redis }},
	} {
		spent, calls, lost, err := renewalOn(ctx, env, s.open)
		if err != nil {
			return r, fmt.Errorf("%s: %w", s.name, err)
		}
		spent.ID, spent.Title = "cpu-"+s.id, s.name+": processor time of the process in a period of renewal, per held tree"
		calls.ID, calls.Title = "renewed-"+s.id, s.name+": leases renewed in a period, per held tree"
		lost.ID, lost.Title = "lost-"+s.id, s.name+": locks that were lost"
		r.tables = append(r.tables, spent, calls, lost)
		counts := env.Plan.HeldTrees
		for i, n := range counts[1:] {
			fewer := counts[i]
			measured, err := spent.Ratio(treesName(n), treesName(fewer))
			if err != nil {
				return r, err
			}
			r.targets = append(r.targets, report.Target{
				ID:       fmt.Sprintf("renewal-%s-%d", s.id, n),
				What:     fmt.Sprintf("%s: renewal of %d trees against %d, processor time per tree", s.name, n, fewer),
				Relation: report.AtMost, Limit: 1.25, Measured: measured,
			})
		}
	}
	r.notes = []string{
		fmt.Sprintf("a locker, a leaf at depth %d held in each tree, leases of %v that began one after the other in a period of %v; in the next period, which is measured, nothing else is done",
			renewDepth, env.Plan.RenewLease, env.Plan.RenewLease/pathlockPeriod),
		"the process has one processor meanwhile (GOMAXPROCS): with more, most of what it spends is what Go's scheduler spends on looking for work whenever it is woken",
		"processor time is the whole process's, in its own code and in the system's, its share of garbage collection included; what the server spends is not in it",
		"what a process spends though nothing is held is in all rows: it weighs most where few trees are held, so that each row is judged against the one before",
	}
	return r, nil
}

// pathlockPeriod is the part of a lease after which a locker renews it.
const pathlockPeriod = 3

func treesName(n int) string { return fmt.Sprintf("%d trees held", n) }

// renewalOn measures lockers on stores, a locker for each turn.
func renewalOn(ctx context.Context, env *Env, open func() pathlock.Store) (spent, calls, lost report.Table, err error) {
	p := env.Plan
	var names []string
	for _, n := range p.HeldTrees {
		names = append(names, treesName(n))
	}
	cpu, renewed, gone := stats.NewSamples(p.RenewRounds, len(names)), stats.NewSamples(p.RenewRounds, len(names)), stats.NewSamples(p.RenewRounds, len(names))
	err = stats.Turns(ctx, p.RenewRounds, 1, len(names), func(round, i int) error {
		store := &countingStore{Store: open()}
		used, ended, err := renewedTrees(ctx, store, p.HeldTrees[i], p.RenewLease)
		if err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
		each := float64(p.HeldTrees[i])
		cpu.Add(round, i, microseconds(used)/each)
		renewed.Add(round, i, float64(store.renewed.Load())/each)
		gone.Add(round, i, float64(ended))
		return nil
	})
	spent = report.NewTable("", "", "µs", names[0], names, cpu.Medians())
	calls = report.NewTable("", "", "leases", "", names, renewed.Medians())
	lost = report.NewTable("", "", "locks", "", names, gone.Medians())
	return spent, calls, lost, err
}

// countingStore counts the renewed leases while counting is on.
type countingStore struct {
	pathlock.Store
	counts  atomic.Bool
	renewed atomic.Int64
}

// Local implements [pathlock.LocalStore] as the wrapped store does.
func (s *countingStore) Local() bool {
	local, ok := s.Store.(pathlock.LocalStore)
	return ok && local.Local()
}

// Renew implements [pathlock.Store].
func (s *countingStore) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	if s.counts.Load() {
		s.renewed.Add(int64(len(leases)))
	}
	return s.Store.Renew(ctx, tree, leases)
}

// renewedTrees holds a leaf in each of n trees. It returns what the process spends in the next
// period of renewal, and how many locks were lost although the process ran.
func renewedTrees(ctx context.Context, store *countingStore, n int, lease time.Duration) (used time.Duration, lost int, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	locker := pathlock.New(store, pathlock.WithLease(lease), pathlock.WithLogger(slog.New(slog.DiscardHandler)))
	locks := make([]*pathlock.Lock, n)
	defer func() {
		var failed error
		if lost, failed = releaseAll(ctx, locks); err == nil {
			err = failed
		}
	}()
	if err := lockTrees(ctx, locker, locks, lease/pathlockPeriod); err != nil {
		return 0, 0, err
	}
	runtime.GC() // so that this turn does not collect the garbage of others
	before, err := processTime()
	if err != nil {
		return 0, 0, err
	}
	store.counts.Store(true)
	select {
	case <-time.After(lease / pathlockPeriod):
	case <-ctx.Done():
		return 0, 0, context.Cause(ctx)
	}
	store.counts.Store(false)
	after, err := processTime()
	return after - before, 0, err
}

// lockTrees takes a leaf in a tree of its own for each of locks, evenly over a period. So they are
// due one after the other, as in a process that serves requests.
func lockTrees(ctx context.Context, locker *pathlock.Locker, locks []*pathlock.Lock, period time.Duration) error {
	leaf, turn, start := leafAt(renewDepth, "case-1"), rand.Text(), time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for h := range holders {
		group.Go(func() error {
			for i := h; i < len(locks); i += holders {
				time.Sleep(time.Until(start.Add(period * time.Duration(i) / time.Duration(len(locks)))))
				tree, err := pathlock.NewTree("bench", fmt.Sprintf("tree-%s-%d", turn, i))
				if err != nil {
					return err
				}
				locks[i], err = locker.Acquire(ctx, pathlock.Request{
					Tree: tree, Claims: []pathlock.Claim{pathlock.X(leaf)}, Wait: pathlock.NoWait,
				})
				if err != nil {
					return fmt.Errorf("taking the lock %d of %d: %w", i+1, len(locks), err)
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// releaseAll releases all locks, several at a time, and returns how many of them were lost. It
// ignores a store that is too busy for a release: the next turn has trees of its own.
func releaseAll(ctx context.Context, locks []*pathlock.Lock) (int, error) {
	var lost atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for h := range holders {
		group.Go(func() error {
			for i := h; i < len(locks); i += holders {
				if locks[i] == nil {
					continue
				}
				err := locks[i].Release(ctx)
				if errors.Is(err, pathlock.ErrLost) {
					lost.Add(1)
				} else if err != nil && !errors.Is(err, pathlock.ErrUnavailable) {
					return err
				}
			}
			return nil
		})
	}
	err := group.Wait()
	return int(lost.Load()), err
}

// processTime returns the processor time that this process has used.
func processTime() (time.Duration, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, fmt.Errorf("the processor time of this process: %w", err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), nil
}
