package section

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/pathlock-go/pathlock/bench/internal/contender"
	"github.com/pathlock-go/pathlock/bench/internal/redisserver"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
)

const (
	heldDepth = 8
	heldFan   = 10
	// holders is how many goroutines take the held locks.
	holders = 16
)

// heldLocks compares the cost of one more lock in trees with few, many and very many held locks.
func heldLocks(ctx context.Context, env *Env) (result, error) {
	ours, err := heldBy(ctx, env, contender.Store, env.Plan.Held, env.Plan.Batch)
	if err != nil {
		return result{}, err
	}
	naive, err := heldBy(ctx, env, contender.HKeys, env.Plan.HeldNaive, 2)
	if err != nil {
		return result{}, err
	}
	r := result{tables: []report.Table{ours.latency, ours.script, naive.latency, naive.script}}
	few := heldName(contender.Store, env.Plan.Held[0])
	for _, n := range env.Plan.Held[1:] {
		many := heldName(contender.Store, n)
		for _, goal := range []struct {
			id, what string
			table    report.Table
			limit    float64
		}{
			{"held-latency", "latency", ours.latency, 1.05},
			{"held-script", "script time", ours.script, 1.10},
		} {
			measured, err := goal.table.Ratio(many, few)
			if err != nil {
				return r, err
			}
			r.targets = append(r.targets, report.Target{
				ID:       fmt.Sprintf("%s-%d", goal.id, n),
				What:     fmt.Sprintf("%s with %d held locks, against %d", goal.what, n, env.Plan.Held[0]),
				Relation: report.AtMost, Limit: goal.limit, Measured: measured,
			})
		}
	}
	r.notes = []string{
		fmt.Sprintf("depth %d; the held locks are in the same tree, whose nodes have %d children each", heldDepth, heldFan),
		"script time is what INFO commandstats counts for EVALSHA, per acquisition and release",
	}
	return r, nil
}

// heldCost is one contender's cost by the number of held locks.
type heldCost struct{ latency, script report.Table }

func heldName(name string, n int) string { return fmt.Sprintf("%s, %d held", name, n) }

// heldBy measures one contender, with a tree for each of the counts.
func heldBy(ctx context.Context, env *Env, name string, counts []int, batch int) (_ heldCost, err error) {
	f, err := openField(ctx, env, "held", contender.Only(contender.Redis(), name))
	if err != nil {
		return heldCost{}, err
	}
	defer closeField(ctx, f, &err)

	var rows []string
	var locks []contender.Lock
	for _, n := range counts {
		tree := fmt.Sprintf("tree-%d", n)
		if err := hold(ctx, f.open[0], n, func(i int) node { return node{tree, spread(i, heldDepth, heldFan)} }); err != nil {
			return heldCost{}, err
		}
		lock, err := f.open[0].Lock(tree, leafAt(heldDepth, "one-more"))
		if err != nil {
			return heldCost{}, err
		}
		rows, locks = append(rows, heldName(name, n)), append(locks, lock)
	}
	p := env.Plan
	latency, script := stats.NewSamples(p.Rounds, len(locks)), stats.NewSamples(p.Rounds, len(locks))
	err = stats.Turns(ctx, p.Rounds, p.Passes, len(locks), func(round, i int) error {
		before, err := redisserver.ReadCounters(ctx, env.Admin)
		if err != nil {
			return err
		}
		times, err := timed(ctx, locks[i], batch)
		if err != nil {
			return fmt.Errorf("%s: %w", rows[i], err)
		}
		after, err := redisserver.ReadCounters(ctx, env.Admin)
		if err != nil {
			return err
		}
		latency.Add(round, i, times...)
		script.Add(round, i, microseconds(after.Minus(before).ScriptTime)/float64(warmUp+batch))
		return nil
	})
	if err != nil {
		return heldCost{}, err
	}
	return heldCost{
		report.NewTable("latency-"+name, name+": latency by the number of held locks", "µs", rows[0], rows, latency.Medians()),
		report.NewTable("script-"+name, name+": script time by the number of held locks", "µs", rows[0], rows, script.Medians()),
	}, nil
}

// hold takes n locks and keeps them.
func hold(ctx context.Context, open contender.Locks, n int, at func(i int) node) error {
	group, ctx := errgroup.WithContext(ctx)
	for h := range holders {
		group.Go(func() error {
			for i := h; i < n; i += holders {
				where := at(i)
				lock, err := open.Lock(where.tree, where.path)
				if err != nil {
					return err
				}
				if err := lock.Acquire(ctx); err != nil {
					return fmt.Errorf("taking the lock %d of %d that are to be held: %w", i+1, n, err)
				}
			}
			return nil
		})
	}
	return group.Wait()
}
