package fsck

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Repair checks the table and repairs what it finds, as the package documentation says, in
// transactions of a bounded number of rows. When ctx ends, Repair stops between two transactions,
// and returns an error that matches the context's. However a repair ended, another one completes
// it, with the same outcome.
func (c *Checker) Repair(ctx context.Context, opts RepairOptions) (summary RepairSummary, err error) {
	defer func() { err = canceled(ctx, err) }()
	r := &repair{Checker: c, opts: opts.withDefaults(), log: changeLog{opts.Log}, known: newKnown(), skippedTrees: make(map[Key]bool)}
	if err := checkName(r.opts.LostFound); err != nil {
		return summary, fmt.Errorf("fsck: the name of lost+found: %w", err)
	}
	suspects := make(lineup)
	defer func() { err = errors.Join(err, suspects.close()) }()
	if r.summary.Before, err = c.Check(ctx, Options{Tree: opts.Tree, Progress: r.phase("check")}, func(p Problem) error {
		if err := r.opts.Report(p); err != nil {
			return err
		}
		if !slices.ContainsFunc(steps, func(s step) bool { return s.kind == p.Kind }) {
			return nil // the repair looks for wrong paths again, after all else
		}
		return suspects.add(p)
	}); err != nil || r.summary.Before.Total() == 0 {
		r.summary.After = r.summary.Before
		return r.summary, err
	}
	if !opts.Apply {
		return r.rehearse(ctx, suspects)
	}
	if err := r.log.begin(c.table.Table); err != nil {
		return r.summary, err
	}
	if err := r.mend(ctx, suspects); err != nil {
		return r.summary, err
	}
	r.summary.After, err = c.Check(ctx, Options{Tree: opts.Tree, Progress: r.phase("check again")}, r.opts.Left)
	return r.summary, err
}

// rehearse is the dry run of mend, in one read-only transaction.
func (r *repair) rehearse(ctx context.Context, suspects lineup) (summary RepairSummary, err error) {
	conn, giveBack, err := r.connect(ctx)
	if err != nil {
		return r.summary, fmt.Errorf("fsck: repair %s: %w", r.table.Table, err)
	}
	defer giveBack()
	tx, err := conn.BeginTx(ctx, r.dialect.snapshot())
	if err != nil {
		return r.summary, fmt.Errorf("fsck: repair %s: %w", r.table.Table, err)
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	r.dry = &session{catalogue: r.catalogue, tx: tx, plan: newOverlay()}
	if err := r.mend(ctx, suspects); err != nil {
		return r.summary, err
	}
	r.summary.After.Problems = make(map[Kind]int64)
	r.summary.After.Rows, err = r.dry.scan(ctx, Options{Tree: r.opts.Tree}, func(p Problem) error {
		if p.Kind == WrongPath || p.Kind == WrongIDPath {
			return nil // a repair would have written it
		}
		r.summary.After.Problems[p.Kind]++
		return r.opts.Left(p)
	})
	return r.summary, err
}
