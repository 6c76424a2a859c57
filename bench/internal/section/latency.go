package section

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock/bench/internal/contender"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
)

// depths are the depths of the targets.
var depths = [...]int{3, 8, 15}

// warmUp is how many operations precede the timed ones in every turn, because an idle connection is
// slower.
const warmUp = 2

// others is how many locks others hold in the tree of the row amongOthers. The store may have more
// work there than in a tree that nobody else uses.
const others = 10

// amongOthers names that row.
const amongOthers = contender.Store + ", among 10 others"

// latency times acquisitions with their releases, one after the other.
func latency(ctx context.Context, env *Env) (result, error) {
	var r result
	var cpu []report.Table
	for _, depth := range depths {
		took, spent, err := latencyAt(ctx, env, depth)
		if err != nil {
			return r, err
		}
		r.tables, cpu = append(r.tables, took), append(cpu, spent)
	}
	for _, goal := range []struct {
		id       string
		depth    int // index into depths
		baseline string
		limit    float64
	}{
		{"latency-3", 0, contender.Redislock, 1.20},
		{"latency-15", 2, contender.Redislock, 1.30},
		{"latency-multi-15", 2, contender.ObtainMulti, 0.9},
	} {
		measured, err := r.tables[goal.depth].Ratio(contender.Store, goal.baseline)
		if err != nil {
			return r, err
		}
		r.targets = append(r.targets, report.Target{
			ID: goal.id, What: fmt.Sprintf("latency of acquire+release, depth %d, against %s", depths[goal.depth], goal.baseline),
			Relation: report.AtMost, Limit: goal.limit, Measured: measured,
		})
	}
	r.tables = append(r.tables, cpu...)
	r.notes = []string{
		"depth d is a path of d names, d+1 nodes with the root: X on the leaf, IX above; contenders of one key lock the leaf alone",
		"every contender is alone in its tree, except in the row that says otherwise: its leaf has siblings that are held",
		"targets are judged by the row of the store, driven as a locker drives it; the locker's row adds scopes, folding and the bookkeeping of renewal",
		cpuNote,
	}
	return r, nil
}

func latencyAt(ctx context.Context, env *Env, depth int) (took, spent report.Table, err error) {
	f, err := openField(ctx, env, "latency", contender.Redis())
	if err != nil {
		return took, spent, err
	}
	defer closeField(ctx, f, &err)

	locks := make([]contender.Lock, len(f.open))
	for i, open := range f.open {
		// Each contender has its own trees: HSETNX and the naive script use a key of the same name
		// differently.
		if locks[i], err = open.Lock(fmt.Sprintf("tree-%d", i), leafAt(depth, "case-1")); err != nil {
			return took, spent, err
		}
	}
	among, err := lockAmongOthers(ctx, f, depth)
	if err != nil {
		return took, spent, err
	}
	names, locks := append(f.names(), amongOthers), append(locks, among)

	p := env.Plan
	meter, err := newCPUMeter(ctx, env.Admin)
	if err != nil {
		return took, spent, err
	}
	times, cpu := stats.NewSamples(p.Rounds, len(locks)), stats.NewSamples(p.Rounds, len(locks))
	err = stats.Turns(ctx, p.Rounds, p.Passes, len(locks), func(round, i int) error {
		used, err := meter.during(ctx, func() error {
			some, err := timed(ctx, locks[i], p.Batch)
			times.Add(round, i, some...)
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
		cpu.Add(round, i, microseconds(used)/float64(warmUp+p.Batch))
		return nil
	})
	if err != nil {
		return took, spent, err
	}
	at := fmt.Sprintf("depth-%d", depth)
	title := fmt.Sprintf("acquire+release, depth %d: ", depth)
	took = report.NewTable(at, title+"latency", "µs", contender.Redislock, names, times.Medians())
	spent = report.NewTable("cpu-"+at, title+"processor time of the server", "µs", contender.Redislock, names, cpu.Medians())
	return took, spent, nil
}

// lockAmongOthers returns a lock of the store in a tree where others hold leaves. They never
// conflict with it.
func lockAmongOthers(ctx context.Context, f *field, depth int) (contender.Lock, error) {
	const tree = "tree-others"
	open := f.open[slices.Index(f.names(), contender.Store)]
	if err := hold(ctx, open, others, func(i int) node { return node{tree, leafAt(depth, fmt.Sprintf("case-%d", 2+i))} }); err != nil {
		return nil, err
	}
	return open.Lock(tree, leafAt(depth, "case-1"))
}

// timed acquires and releases n times, and returns the times in microseconds.
func timed(ctx context.Context, lock contender.Lock, n int) ([]float64, error) {
	if err := repeat(ctx, lock, warmUp); err != nil {
		return nil, err
	}
	times := make([]float64, n)
	for i := range times {
		start := time.Now()
		if err := repeat(ctx, lock, 1); err != nil {
			return nil, err
		}
		times[i] = microseconds(time.Since(start))
	}
	return times, nil
}

// repeat acquires and releases n times.
func repeat(ctx context.Context, lock contender.Lock, n int) error {
	for range n {
		if err := lock.Acquire(ctx); err != nil {
			return fmt.Errorf("acquiring: %w", err)
		}
		if err := lock.Release(ctx); err != nil {
			return fmt.Errorf("releasing: %w", err)
		}
	}
	return nil
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// closeField closes f when a section returns, and adds its error to the section's.
func closeField(ctx context.Context, f *field, err *error) {
	if failed := f.close(ctx); failed != nil && *err == nil {
		*err = failed
	}
}
