package section

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock/bench/internal/redisserver"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// searchTimeout is how long a command may take while very many requests queue at the same time.
const searchTimeout = time.Minute

// deadlocks times requests for which the store has to find out who waits for whom, among many
// owners that hold something and wait.
func deadlocks(ctx context.Context, env *Env) (_ result, err error) {
	// A long search must be measured, not given up.
	store, err := openStore(env, "deadlocks", redisstore.WithTimeout(searchTimeout))
	if err != nil {
		return result{}, err
	}
	defer closeStore(ctx, store, &err)
	tangles, err := openTangles(ctx, env, store)
	defer func() {
		for _, t := range tangles {
			err = errors.Join(err, t.leave())
		}
	}()
	if err != nil {
		return result{}, err
	}
	log, err := redisserver.StartSlowlog(ctx, env.Admin)
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, log.Stop(context.WithoutCancel(ctx))) }()

	names := make([]string, len(tangles))
	for i, t := range tangles {
		names[i] = t.name
	}
	p := env.Plan
	asked := stats.NewSamples(p.SearchRounds, len(tangles))
	longest := []*stats.Samples{
		stats.NewSamples(p.SearchRounds, len(tangles)), stats.NewSamples(p.SearchRounds, len(tangles)), stats.NewSamples(p.SearchRounds, len(tangles)),
	}
	err = stats.Turns(ctx, p.SearchRounds, 1, len(tangles), func(round, i int) error {
		for kind, do := range []func(context.Context) ([]time.Duration, error){
			tangles[i].closeCycle, tangles[i].joinAndLeave, tangles[i].askAgain,
		} {
			took, inScript, err := searched(ctx, env, store, log, do)
			if err != nil {
				return fmt.Errorf("%s: %w", names[i], err)
			}
			if kind == 0 {
				asked.Add(round, i, took...)
			}
			longest[kind].Add(round, i, inScript)
		}
		return nil
	})
	if err != nil {
		return result{}, err
	}
	tables := []report.Table{report.NewTable("asked", "a request that would close a cycle through all of them, refused: latency", "µs", "", names, asked.Medians())}
	for kind, title := range []string{
		"such a request: the longest script", "one more who holds something queues and gives up: the longest script",
		"one of those who wait asks again, several times in a second: the longest script",
	} {
		tables = append(tables, report.NewTable(fmt.Sprintf("script-%d", kind), title, "µs", "", names, longest[kind].Medians()))
	}
	return judgeTangles(p, tables)
}

// searched returns the times of some requests in µs, and the longest script meanwhile.
func searched(
	ctx context.Context, env *Env, store *ownStore, log *redisserver.Slowlog, do func(context.Context) ([]time.Duration, error),
) (took []float64, longest float64, err error) {
	if err := redisserver.Quiet(ctx, env.Admin); err != nil {
		return nil, 0, err
	}
	if err := log.Clear(ctx); err != nil {
		return nil, 0, err
	}
	times, err := do(ctx)
	if err != nil {
		return nil, 0, err
	}
	if err := redisserver.Quiet(ctx, env.Admin); err != nil {
		return nil, 0, err
	}
	scripts, err := log.Scripts(ctx, store.at.Prefix)
	for _, d := range times {
		took = append(took, microseconds(d))
	}
	for _, d := range scripts {
		longest = max(longest, microseconds(d))
	}
	return took, longest, err
}

// judgeTangles judges the longest of all scripts, and how the latency grows with the number of
// waiters.
func judgeTangles(p Plan, tables []report.Table) (result, error) {
	r := result{tables: tables}
	var worst report.Row
	for _, t := range tables[1:] {
		for _, row := range t.Rows {
			if row.Value >= worst.Value {
				worst = row
			}
		}
	}
	r.targets = append(r.targets, report.Target{
		ID: "deadlocks-script", What: "who waits for whom: longest script, where it is greatest: " + worst.Contender,
		Relation: report.AtMost, Limit: scriptLimit, Unit: "µs", Measured: stats.SpreadOf(worst.Rounds),
	})
	few, many := p.Tangled[0], p.Tangled[len(p.Tangled)-1]
	times := float64(many) / float64(few)
	for _, shape := range shapes {
		growth, err := tables[0].Ratio(shape.nameOf(many), shape.nameOf(few))
		if err != nil {
			return r, err
		}
		r.targets = append(r.targets, report.Target{
			ID: "deadlocks-growth-" + shape.id, What: fmt.Sprintf("who waits for whom: latency with %s, against %d", shape.nameOf(many), few),
			Relation: report.AtMost, Limit: 1.25 * times, Measured: growth,
		})
	}
	r.notes = []string{
		"in a chain each holds a leaf and waits for the next one's; of two crowds one reads a node and waits for somebody's leaf, and the other " +
			"waits to write that node, each with a leaf of its own: everybody waits for very many",
		fmt.Sprintf("%v times as many may take %v times as long, and a quarter more", times, times),
		"scripts by SLOWLOG, as in the section scripts",
	}
	return r, nil
}
