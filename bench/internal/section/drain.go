package section

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock/bench/internal/contender"
	"github.com/pathlock-go/pathlock/bench/internal/redisserver"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
)

// drainNames are the contenders for which processes can wait. The processes use the same order.
func drainNames() []string { return []string{contender.Store, contender.Rueidislock} }

const drainTree = "drain"

// drain makes many processes wait for one node, releases it, and measures the time until each of
// them has had it.
func drain(ctx context.Context, env *Env) (_ result, err error) {
	f, err := openField(ctx, env, "drain", contender.Only(contender.Redis(), drainNames()...))
	if err != nil {
		return result{}, err
	}
	defer closeField(ctx, f, &err)
	crowd, err := startCrowd(ctx, env.Program, f.at, env.Plan.Waiters)
	defer func() {
		if failed := crowd.stop(); err == nil {
			err = failed
		}
	}()
	if err != nil {
		return result{}, err
	}

	holders := make([]contender.Lock, len(f.open))
	for i, open := range f.open {
		if holders[i], err = open.Lock(drainTree, leafAt(contendedDepth, "case-1")); err != nil {
			return result{}, err
		}
		// Warms up: every process subscribes and loads its scripts.
		if _, err := drainOnce(ctx, env, crowd, holders[i], i); err != nil {
			return result{}, fmt.Errorf("%s: %w", f.contenders[i].Name, err)
		}
	}
	p := env.Plan
	times, scripts := stats.NewSamples(p.Rounds, len(holders)), stats.NewSamples(p.Rounds, len(holders))
	err = stats.Turns(ctx, p.Rounds, p.Drains, len(holders), func(round, i int) error {
		d, err := drainOnce(ctx, env, crowd, holders[i], i)
		if err != nil {
			return fmt.Errorf("%s: %w", f.contenders[i].Name, err)
		}
		times.Add(round, i, float64(d.took)/float64(time.Millisecond))
		scripts.Add(round, i, d.scriptsPerWaiter)
		return nil
	})
	if err != nil {
		return result{}, err
	}
	what := fmt.Sprintf("%d waiters in as many processes", p.Waiters)
	took := report.NewTable("time", what+": from the release until all have had the lock", "ms", contender.Rueidislock, f.names(), times.Medians())
	calls := report.NewTable("scripts", what+": scripts per waiter, to wait, be granted and release", "scripts", contender.Rueidislock, f.names(), scripts.Medians())
	against, err := took.Ratio(contender.Store, contender.Rueidislock)
	if err != nil {
		return result{}, err
	}
	ours, _ := calls.Row(contender.Store)
	return result{
		tables: []report.Table{took, calls},
		targets: []report.Target{
			{ID: "drain-rueidislock", What: what + " drained, against rueidislock", Relation: report.AtMost, Limit: 0.55, Measured: against},
			{ID: "drain-scripts", What: what + ": scripts per waiter", Relation: report.AtMost, Limit: 2.05, Measured: stats.SpreadOf(ours.Rounds)},
		},
		notes: []string{
			fmt.Sprintf("depth %d; every waiter releases as soon as it has X on the leaf; times by the clock that the processes share", contendedDepth),
		},
	}, nil
}

// drained is the cost of one drain.
type drained struct {
	took             time.Duration
	scriptsPerWaiter float64
}

// drainOnce makes the crowd wait for the holder's lock, and releases it.
func drainOnce(ctx context.Context, env *Env, crowd *crowd, holder contender.Lock, contender int) (drained, error) {
	if err := holder.Acquire(ctx); err != nil {
		return drained{}, fmt.Errorf("acquiring: %w", err)
	}
	before, err := redisserver.ReadCounters(ctx, env.Admin)
	if err != nil {
		return drained{}, err
	}
	if err := crowd.send(contender); err != nil {
		return drained{}, err
	}
	if err := untilAllWait(ctx, env, before, len(crowd.members)); err != nil {
		return drained{}, err
	}
	start := time.Now()
	if err := holder.Release(ctx); err != nil {
		return drained{}, fmt.Errorf("releasing: %w", err)
	}
	last, err := crowd.receive()
	if err != nil {
		return drained{}, err
	}
	// The work that a release leaves for later counts, too.
	if err := redisserver.Quiet(ctx, env.Admin); err != nil {
		return drained{}, err
	}
	after, err := redisserver.ReadCounters(ctx, env.Admin)
	if err != nil {
		return drained{}, err
	}
	const holdersRelease = 1
	scripts := float64(after.Minus(before).Scripts - holdersRelease)
	// Processes share only the wall clock.
	return drained{last.Sub(start.Round(0)), scripts / float64(len(crowd.members))}, nil
}

// untilAllWait returns when each of n waiters has asked once and nobody asks any more.
func untilAllWait(ctx context.Context, env *Env, before redisserver.Counters, n int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, waitersTimeout, errors.New("not all of them ask for the lock, or they never stop asking"))
	defer cancel()
	for {
		if err := redisserver.Quiet(ctx, env.Admin); err != nil {
			return err
		}
		now, err := redisserver.ReadCounters(ctx, env.Admin)
		if err != nil {
			return err
		}
		if now.Minus(before).Scripts >= int64(n) {
			return nil
		}
	}
}
