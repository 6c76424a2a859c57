package section

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/bench/internal/gormtree"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
)

// gormInsert measures the insert of one row, by hand and by the plugin under path locks that are
// already held.
func gormInsert(ctx context.Context, env *Env) (_ result, err error) {
	tree, err := gormtree.Open(ctx, env.DSN)
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, tree.Close()) }()

	const byHand, guarded = "by hand, the same row locks", "by the plugin, path locks held"
	rows := []string{byHand, guarded}
	var tables []report.Table
	var targets []report.Target
	for _, depth := range insertDepths {
		parent, err := tree.Chain(ctx, chainNames(depth-1)...)
		if err != nil {
			return result{}, err
		}
		held, err := holdPlan(ctx, tree)
		if err != nil {
			return result{}, err
		}
		count := 0
		insert := []func() error{
			func() error { count++; return tree.InsertByHand(ctx, parent.ID, fmt.Sprint("case-", count)) },
			func() error {
				count++
				id := parent.ID
				return tree.Guarded.WithContext(held.Context()).Create(&gormtree.Suite{ParentID: &id, Name: fmt.Sprint("case-", count)}).Error
			},
		}
		trips, err := countTrips(ctx, []*gorm.DB{tree.Plain, tree.Guarded}, insert)
		if err != nil {
			return result{}, errors.Join(err, held.Release(ctx))
		}
		p := env.Plan
		took := stats.NewSamples(p.Rounds, len(rows))
		err = stats.Turns(ctx, p.Rounds, p.Passes, len(rows), func(round, i int) error {
			for range p.Batch {
				start := time.Now()
				if err := insert[i](); err != nil {
					return err
				}
				took.Add(round, i, microseconds(time.Since(start)))
			}
			return nil
		})
		if err := errors.Join(err, held.Release(ctx)); err != nil {
			return result{}, err
		}
		table := report.NewTable(fmt.Sprintf("depth%d", depth), fmt.Sprintf("an insert at depth %d", depth), "µs", byHand, rows, took.Medians())
		tables = append(tables, table,
			report.NewTable(fmt.Sprintf("trips%d", depth), fmt.Sprintf("statements sent for it, at depth %d", depth), "statements", "", rows, trips))
		targets = append(targets,
			report.Target{ID: fmt.Sprintf("insert-%d", depth), What: fmt.Sprintf("guarded insert against the same by hand, depth %d", depth), Relation: report.AtMost, Limit: 1.5, Measured: *table.Rows[1].Ratio},
			report.Target{ID: fmt.Sprintf("insert-trips-%d", depth), What: fmt.Sprintf("round trips more than by hand, depth %d", depth), Relation: report.AtMost, Limit: 1, Measured: stats.SpreadOf(stats.Differences(trips[1], trips[0]))})
	}
	return result{tables: tables, targets: targets, notes: []string{
		"by hand: BEGIN; a locking read of the parent and of all rows above it, by a recursive query; the comparison; INSERT; COMMIT. Both through GORM, each on one connection",
	}}, nil
}

// insertDepths are the depths of the inserted row.
var insertDepths = []int{3, 7, 15}

// chainNames are the names of n rows below each other. Chains of different length share no name.
func chainNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("folder-%d-%d", n, i)
	}
	return names
}

// holdPlan locks the whole plan, as a request does that then writes several rows.
func holdPlan(ctx context.Context, tree *gormtree.Tree) (*pathlock.Lock, error) {
	domain, err := pathlock.NewTree("suites", fmt.Sprint(gormtree.PlanID))
	if err != nil {
		return nil, err
	}
	return tree.Locker.Acquire(ctx, pathlock.Request{Tree: domain, Claims: []pathlock.Claim{pathlock.X(pathlock.Root())}})
}

// countTrips runs each operation once, and returns how many statements its connection sent, as one
// round.
func countTrips(ctx context.Context, connections []*gorm.DB, operations []func() error) ([][]float64, error) {
	trips := make([][]float64, len(operations))
	for i, operation := range operations {
		before, err := gormtree.Statements(ctx, connections[i])
		if err != nil {
			return nil, err
		}
		if err := operation(); err != nil {
			return nil, err
		}
		after, err := gormtree.Statements(ctx, connections[i])
		if err != nil {
			return nil, err
		}
		// The first reading is a statement, too.
		trips[i] = []float64{float64(after - before - 1)}
	}
	return trips, nil
}
