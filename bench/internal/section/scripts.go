package section

import (
	"context"
	"fmt"

	"github.com/pathlock-go/pathlock/bench/internal/redisserver"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
)

// scriptLimit is how long a script may occupy the server, in µs.
const scriptLimit = 1000

// scripts lets the server time each script in a full tree, by its SLOWLOG.
func scripts(ctx context.Context, env *Env) (_ result, err error) {
	tree, err := openFullTree(ctx, env)
	if err != nil {
		return result{}, err
	}
	defer func() {
		if failed := tree.close(ctx); err == nil {
			err = failed
		}
	}()
	log, err := redisserver.StartSlowlog(ctx, env.Admin)
	if err != nil {
		return result{}, err
	}
	defer func() {
		if failed := log.Stop(context.WithoutCancel(ctx)); err == nil {
			err = failed
		}
	}()

	steps := tree.steps()
	samples := stats.NewSamples(env.Plan.Rounds, len(steps))
	for round := range env.Plan.Rounds {
		// The steps build on each other, so their order does not rotate.
		for i, s := range steps {
			times, err := tree.scriptsOf(ctx, log, s)
			if err != nil {
				return result{}, fmt.Errorf("round %d: %s: %w", round+1, s.name, err)
			}
			samples.Add(round, i, times...)
		}
	}

	names := make([]string, len(steps))
	for i, s := range steps {
		names[i] = s.name
	}
	p99 := report.NewTable("p99", "99th percentile of the scripts", "µs", "", names, samples.Quantiles(0.99))
	longest := report.NewTable("max", "the longest script", "µs", "", names, samples.Quantiles(1))
	return result{
		tables: []report.Table{
			report.NewTable("count", "scripts in a round", "scripts", "", names, samples.Counts()),
			report.NewTable("median", "median of the scripts", "µs", "", names, samples.Medians()), p99, longest,
		},
		targets: []report.Target{
			scriptTarget("scripts-p99", "99th percentile of scripts", p99),
			scriptTarget("scripts-max", "longest script", longest),
		},
		notes: []string{
			fmt.Sprintf("depth %d, %d locks held in one tree whose nodes have two children each; EVALSHA of its keys in SLOWLOG", scriptsDepth, env.Plan.ScriptHeld),
			fmt.Sprintf("SLOWLOG from %v on: what is shorter is left out, which can only raise a median or a percentile", redisserver.SlowlogFrom),
			"SLOWLOG is by the clock on the wall: a script that the operating system interrupts for another program is as long as both. " +
				"Work is the same in every round, and interruptions are not, so the median over the rounds is judged, of the step where it is greatest; " +
				"the least of a step's rounds is the nearest to its work alone",
			"where few scripts are in a round, their 99th percentile is next to their maximum",
			"the last row touches no lock and always does the same: how far its percentile and its maximum are from its median is what the machine adds; it is not judged",
		},
	}, nil
}

// scriptTarget judges the row of a table whose median over the rounds is greatest, apart from the
// control's.
func scriptTarget(id, what string, t report.Table) report.Target {
	var worst report.Row
	for _, r := range t.Rows {
		if r.Contender != controlStep && r.Value >= worst.Value {
			worst = r
		}
	}
	return report.Target{
		ID: id, What: what + ", where it is greatest: " + worst.Contender,
		Relation: report.AtMost, Limit: scriptLimit, Unit: "µs", Measured: stats.SpreadOf(worst.Rounds),
	}
}
