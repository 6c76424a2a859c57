package fsck

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Repair checks the table and mends what it finds, as the package's documentation says, in
// transactions of a bounded number of rows. When ctx ends, it stops between two of them. Whenever
// and however it was ended, another run completes it, and the outcome is the same.
func (c *Checker) Repair(ctx context.Context, opts RepairOptions) (summary RepairSummary, err error) {
	defer func() { err = canceled(ctx, err) }()
	r := &repair{Checker: c, opts: opts.withDefaults(), log: changeLog{opts.Log}, known: newKnown(), left: make(map[Key]bool)}
	if err := checkName(r.opts.LostFound); err != nil {
		return summary, fmt.Errorf("fsck: the name of lost+found: %w", err)
	}
	suspects := make(lineup)
	defer func() { err = errors.Join(err, suspects.close()) }()
	if r.summary.Before, err = c.Check(ctx, Options{Tree: opts.Tree, Progress: r.phase("check")}, func(p Problem) error {
		if err := r.report(r.opts.Report, p); err != nil {
			return err
		}
		if !slices.ContainsFunc(steps, func(s step) bool { return s.kind == p.Kind }) {
			return nil // paths are looked for again when all else has been mended
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
	r.summary.After, err = c.Check(ctx, Options{Tree: opts.Tree, Progress: r.phase("check again")}, func(p Problem) error {
		return r.report(r.opts.Left, p)
	})
	return r.summary, err
}

// rehearse is mend as a dry run: in one transaction that only reads.
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
			return nil // would have been mended
		}
		r.summary.After.Problems[p.Kind]++
		return r.report(r.opts.Left, p)
	})
	return r.summary, err
}
