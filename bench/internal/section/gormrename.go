package section

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock/bench/internal/gormtree"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
)

// gormRename compares the rename of a row with many descendants with the bare statement that
// rewrites their paths.
func gormRename(ctx context.Context, env *Env) (_ result, err error) {
	const bare, guarded = "the bare UPDATE of the descendants", "rename by the plugin"
	rows := []string{bare, guarded}
	var r result
	for _, n := range env.Plan.Descendants {
		table, err := renames(ctx, env, n, rows)
		if err != nil {
			return result{}, err
		}
		r.tables = append(r.tables, table)
		r.targets = append(r.targets, report.Target{
			ID: fmt.Sprintf("rename-%d", n), What: fmt.Sprintf("rename with %d descendants against the bare UPDATE", n),
			Relation: report.AtMost, Limit: 1.1, Measured: *table.Rows[1].Ratio,
		})
	}
	r.notes = []string{"every other name is longer than the one before, so that half of the renames have to measure all paths first"}
	return r, nil
}

// renames measures renames with n descendants.
func renames(ctx context.Context, env *Env, n int, rows []string) (_ report.Table, err error) {
	tree, err := gormtree.Open(ctx, env.DSN)
	if err != nil {
		return report.Table{}, err
	}
	defer func() { err = errors.Join(err, tree.Close()) }()
	top, err := tree.Chain(ctx, "outer", "short")
	if err != nil {
		return report.Table{}, err
	}
	if err := tree.Fill(ctx, top, n); err != nil {
		return report.Table{}, fmt.Errorf("making %d rows: %w", n, err)
	}
	names := []string{"a longer name", "short"}
	rename := []func(name string) error{
		func(name string) error {
			from := "/outer/" + names[0]
			if name == names[0] {
				from = "/outer/" + names[1]
			}
			return tree.RewriteByHand(ctx, from, "/outer/"+name)
		},
		func(name string) error {
			return tree.Guarded.WithContext(ctx).Model(&gormtree.Suite{}).Where("id = ?", top.ID).Update("name", name).Error
		},
	}
	took := stats.NewSamples(env.Plan.Rounds, len(rows))
	err = stats.Turns(ctx, env.Plan.Rounds, env.Plan.RenamePasses, len(rows), func(round, i int) error {
		for _, name := range names {
			start := time.Now()
			if err := rename[i](name); err != nil {
				return err
			}
			took.Add(round, i, microseconds(time.Since(start))/1000)
		}
		return nil
	})
	if err != nil {
		return report.Table{}, err
	}
	return report.NewTable(fmt.Sprintf("rename%d", n), fmt.Sprintf("a rename with %d descendants", n), "ms", rows[0], rows, took.Medians()), nil
}
