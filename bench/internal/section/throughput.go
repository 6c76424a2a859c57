package section

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pathlock-go/pathlock/bench/internal/contender"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
)

// goroutines is the number of goroutines that lock at the same time.
const goroutines = 64

// throughput counts the operations of goroutines that never conflict, once in trees of their own,
// and once in one tree, where they share every node but the leaf.
func throughput(ctx context.Context, env *Env) (result, error) {
	everybody := contender.Redis()
	sharing := contender.Where(everybody, func(c contender.Contender) bool { return c.Shares })
	goals := map[int]float64{3: 1.05, 8: 0.85, 15: 0.70}

	var r result
	var cpu []report.Table
	for _, depth := range depths {
		own := func(g int) string { return fmt.Sprintf("own-%d", g) }
		t, spent, err := throughputAt(ctx, env, depth, everybody, own)
		if err != nil {
			return r, err
		}
		t.ID = fmt.Sprintf("own-trees-%d", depth)
		t.Title = fmt.Sprintf("%d goroutines, each in a tree of its own, depth %d: acquire+release", goroutines, depth)
		spent.ID, spent.Title = "cpu-"+t.ID, t.Title+": processor time of the server"
		r.tables, cpu = append(r.tables, t), append(cpu, spent)

		measured, err := t.Ratio(contender.Store, contender.Redislock)
		if err != nil {
			return r, err
		}
		r.targets = append(r.targets, report.Target{
			ID: fmt.Sprintf("throughput-%d", depth), What: fmt.Sprintf("throughput, %d goroutines, depth %d, against redislock", goroutines, depth),
			Relation: report.AtLeast, Limit: goals[depth], Measured: measured,
		})

		one := func(int) string { return "one" }
		if t, spent, err = throughputAt(ctx, env, depth, sharing, one); err != nil {
			return r, err
		}
		t.ID = fmt.Sprintf("one-tree-%d", depth)
		t.Title = fmt.Sprintf("%d goroutines in one tree, depth %d, a leaf each: acquire+release", goroutines, depth)
		spent.ID, spent.Title = "cpu-"+t.ID, t.Title+": processor time of the server"
		r.tables, cpu = append(r.tables, t), append(cpu, spent)
	}
	r.tables = append(r.tables, cpu...)
	r.notes = []string{
		"targets are judged where every goroutine has a tree of its own; ObtainMulti and HSETNX cannot share a tree, since they lock the root exclusively",
		"clients have go-redis's default pool, ten connections per CPU",
		cpuNote,
	}
	return r, nil
}

// throughputAt measures one depth; tree names the tree of each goroutine. It returns operations per
// second and the server's processor time for one, whose tables the caller names.
func throughputAt(ctx context.Context, env *Env, depth int, contenders []contender.Contender, tree func(g int) string) (done, spent report.Table, err error) {
	f, err := openField(ctx, env, "throughput", contenders)
	if err != nil {
		return done, spent, err
	}
	defer closeField(ctx, f, &err)

	locks := make([][]contender.Lock, len(f.open))
	for i, open := range f.open {
		for g := range goroutines {
			lock, err := open.Lock(fmt.Sprintf("%d-%s", i, tree(g)), leafAt(depth, fmt.Sprintf("case-%d", g)))
			if err != nil {
				return done, spent, err
			}
			locks[i] = append(locks[i], lock)
		}
		// Connect and load the scripts before the timing begins.
		if _, err := together(ctx, locks[i], warmUp); err != nil {
			return done, spent, fmt.Errorf("%s: %w", f.contenders[i].Name, err)
		}
	}
	p := env.Plan
	meter, err := newCPUMeter(ctx, env.Admin)
	if err != nil {
		return done, spent, err
	}
	rates, cpu := stats.NewSamples(p.Rounds, len(locks)), stats.NewSamples(p.Rounds, len(locks))
	err = stats.Turns(ctx, p.Rounds, p.ThroughputPasses, len(locks), func(round, i int) error {
		operations := float64(len(locks[i]) * p.PerGoroutine)
		used, err := meter.during(ctx, func() error {
			took, err := together(ctx, locks[i], p.PerGoroutine)
			rates.Add(round, i, operations/took.Seconds())
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", f.contenders[i].Name, err)
		}
		cpu.Add(round, i, microseconds(used)/operations)
		return nil
	})
	if err != nil {
		return done, spent, err
	}
	done = report.NewTable("", "", "/s", contender.Redislock, f.names(), rates.Medians())
	spent = report.NewTable("", "", "µs", contender.Redislock, f.names(), cpu.Medians())
	return done, spent, nil
}

// together makes a goroutine for each lock acquire and release it n times, and returns how long
// that took.
func together(ctx context.Context, locks []contender.Lock, n int) (time.Duration, error) {
	group, ctx := errgroup.WithContext(ctx)
	start := time.Now()
	for _, lock := range locks {
		group.Go(func() error { return repeat(ctx, lock, n) })
	}
	err := group.Wait()
	return time.Since(start), err
}
