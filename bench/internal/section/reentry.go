package section

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// reentry measures acquisitions under a lock that covers them: no store is asked, so any will do.
func reentry(ctx context.Context, env *Env) (_ result, err error) {
	locker := pathlock.New(memstore.New(), pathlock.WithLogger(slog.New(slog.DiscardHandler)))
	rows := make([]string, len(depths))
	inner := make([]func(n int) error, len(depths))
	for i, depth := range depths {
		rows[i] = fmt.Sprintf("depth %d", depth)
		tree, err := pathlock.NewTree("bench", rows[i])
		if err != nil {
			return result{}, err
		}
		request := pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(leafAt(depth, "case-1"))}}
		outer, err := locker.Acquire(ctx, request)
		if err != nil {
			return result{}, err
		}
		defer func() { _ = outer.Release(ctx) }() // in memory, and nobody needs it any more
		inner[i] = func(n int) error { return reenter(outer.Context(), locker, request, n) }
	}

	p := env.Plan
	nanoseconds, allocs, bytes := stats.NewSamples(p.Rounds, len(inner)), stats.NewSamples(p.Rounds, len(inner)), stats.NewSamples(p.Rounds, len(inner))
	err = stats.Turns(ctx, p.Rounds, p.LocalPasses, len(inner), func(round, i int) error {
		c, err := costOf(inner[i], p.LocalBatch)
		nanoseconds.Add(round, i, c.nanoseconds)
		allocs.Add(round, i, c.allocs)
		bytes.Add(round, i, c.bytes)
		return err
	})
	if err != nil {
		return result{}, err
	}
	took := report.NewTable("time", "acquire+release under a held lock", "ns", "", rows, nanoseconds.Medians())
	objects := report.NewTable("allocs", "acquire+release under a held lock: allocations", "allocs", "", rows, allocs.Medians())
	size := report.NewTable("bytes", "acquire+release under a held lock: bytes allocated", "bytes", "", rows, bytes.Medians())
	last := len(rows) - 1
	return result{
		tables: []report.Table{took, objects, size},
		targets: []report.Target{
			{ID: "reentry-time", What: "re-entrant acquire+release, depth 15", Relation: report.Under, Limit: 300, Unit: "ns", Measured: stats.SpreadOf(took.Rows[last].Rounds)},
			{ID: "reentry-allocs", What: "re-entrant: allocations at depth 15 beyond those at depth 3", Relation: report.AtMost, Limit: 0, Measured: stats.SpreadOf(stats.Differences(objects.Rows[last].Rounds, objects.Rows[0].Rounds))},
			{ID: "reentry-bytes", What: "re-entrant: bytes allocated at depth 15 beyond those at depth 3", Relation: report.AtMost, Limit: 0, Measured: stats.SpreadOf(stats.Differences(size.Rows[last].Rounds, size.Rows[0].Rounds))},
		},
	}, nil
}

// reenter acquires and releases n times.
func reenter(ctx context.Context, locker *pathlock.Locker, request pathlock.Request, n int) error {
	for range n {
		lock, err := locker.Acquire(ctx, request)
		if err != nil {
			return err
		}
		if err := lock.Release(ctx); err != nil {
			return err
		}
	}
	return nil
}

// cost is what one operation takes.
type cost struct{ nanoseconds, allocs, bytes float64 }

// costOf has do carry out n operations. Allocations are rounded, as by package testing: what the
// rest of the process allocates meanwhile is little beside n.
func costOf(do func(n int) error, n int) (cost, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	err := do(n)
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	return cost{
		nanosecondsEach(took, n),
		math.Round(float64(after.Mallocs-before.Mallocs) / float64(n)),
		math.Round(float64(after.TotalAlloc-before.TotalAlloc) / float64(n)),
	}, err
}
