package section

import (
	"context"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock/bench/internal/contender"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
)

// local compares locks within one process.
func local(ctx context.Context, env *Env) (result, error) {
	var r result
	for _, depth := range depths {
		t, err := localAt(ctx, env, depth)
		if err != nil {
			return r, err
		}
		r.tables = append(r.tables, t)
	}
	deepest := r.tables[len(r.tables)-1]
	ours, _ := deepest.Row(contender.Memory)
	faster, err := deepest.Ratio(contender.WebDAV, contender.Memory)
	if err != nil {
		return r, err
	}
	r.targets = []report.Target{
		{ID: "local-15", What: "memory store, acquire+release, depth 15", Relation: report.Under, Limit: 2000, Unit: "ns", Measured: stats.SpreadOf(ours.Rounds)},
		{ID: "local-treelock-15", What: "memory store, depth 15: times faster than " + contender.WebDAV, Relation: report.AtLeast, Limit: 3, Measured: faster},
	}
	r.notes = []string{
		"golang.org/x/net/webdav is the tree-lock package that is compared with; the README names the others and why they are not here",
		"sync.RWMutex per node has neither leases nor owners nor an order among those who wait",
	}
	return r, nil
}

func localAt(ctx context.Context, env *Env, depth int) (_ report.Table, err error) {
	f, err := openField(ctx, &Env{Plan: env.Plan}, "local", contender.Local())
	if err != nil {
		return report.Table{}, err
	}
	defer closeField(ctx, f, &err)
	locks := make([]contender.Lock, len(f.open))
	for i, open := range f.open {
		if locks[i], err = open.Lock("tree", leafAt(depth, "case-1")); err != nil {
			return report.Table{}, err
		}
	}
	p := env.Plan
	samples := stats.NewSamples(p.Rounds, len(locks))
	err = stats.Turns(ctx, p.Rounds, p.LocalPasses, len(locks), func(round, i int) error {
		start := time.Now()
		err := repeat(ctx, locks[i], p.LocalBatch)
		samples.Add(round, i, nanosecondsEach(time.Since(start), p.LocalBatch))
		if err != nil {
			return fmt.Errorf("%s: %w", f.contenders[i].Name, err)
		}
		return nil
	})
	if err != nil {
		return report.Table{}, err
	}
	title := fmt.Sprintf("acquire+release in memory, depth %d", depth)
	return report.NewTable(fmt.Sprintf("depth-%d", depth), title, "ns", contender.WebDAV, f.names(), samples.Medians()), nil
}

func nanosecondsEach(took time.Duration, n int) float64 {
	return float64(took.Nanoseconds()) / float64(n)
}
