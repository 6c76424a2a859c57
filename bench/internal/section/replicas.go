package section

import (
	"context"
	"fmt"

	"github.com/pathlock-go/pathlock/bench/internal/contender"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
)

// replicas times acquisitions that wait for a replica, and others, on a primary with a replica. It
// is the last section with a server, because a primary that had a replica has more work for a
// while.
func replicas(ctx context.Context, env *Env) (_ result, err error) {
	if env.Own == nil {
		return result{notes: []string{"not measured: it needs a server that it may give a replica"}}, nil
	}
	replica, err := env.Own.StartReplica(ctx)
	if err != nil {
		return result{}, err
	}
	defer func() {
		if failed := replica.Stop(); err == nil {
			err = failed
		}
	}()
	var r result
	for _, depth := range depths {
		t, err := replicasAt(ctx, env, depth)
		if err != nil {
			return r, err
		}
		r.tables = append(r.tables, t)
	}
	r.notes = []string{
		"both have a primary with one replica, on the same machine; what waits is the acquisition, not the release",
		"no target: the wait is off unless it is asked for",
	}
	return r, nil
}

func replicasAt(ctx context.Context, env *Env, depth int) (_ report.Table, err error) {
	f, err := openField(ctx, env, "replicas", contender.Replicas())
	if err != nil {
		return report.Table{}, err
	}
	defer closeField(ctx, f, &err)
	locks := make([]contender.Lock, len(f.open))
	for i, open := range f.open {
		if locks[i], err = open.Lock(fmt.Sprintf("tree-%d", i), leafAt(depth, "case-1")); err != nil {
			return report.Table{}, err
		}
	}
	p := env.Plan
	samples := stats.NewSamples(p.Rounds, len(locks))
	err = stats.Turns(ctx, p.Rounds, p.Passes, len(locks), func(round, i int) error {
		times, err := timed(ctx, locks[i], p.Batch)
		if err != nil {
			return fmt.Errorf("%s: %w", f.contenders[i].Name, err)
		}
		samples.Add(round, i, times...)
		return nil
	})
	if err != nil {
		return report.Table{}, err
	}
	title := fmt.Sprintf("acquire+release, depth %d, on a primary with a replica: latency", depth)
	return report.NewTable(fmt.Sprintf("depth-%d", depth), title, "µs", contender.Store, f.names(), samples.Medians()), nil
}
