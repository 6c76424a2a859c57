package fsck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// repair is a repair under way.
type repair struct {
	*Checker
	opts        RepairOptions
	transaction int
	summary     RepairSummary
	// skippedTrees and skippedRows stay as they are, the rows until their paths are written. skips
	// are those that have to be reported.
	skippedTrees map[Key]bool
	skippedRows  map[rowID]bool
	skips        []Skip
	// created counts the lost+founds that were planned, creations are the edits that create them.
	created   int
	creations map[*row]*creation
}

// rounds bounds how often the table is read and planned again because others have changed it since.
const rounds = 10

// Repair checks the table and repairs what it finds, as the package documentation says, in
// transactions of a bounded number of rows. When ctx ends, Repair stops between two transactions,
// and returns an error that matches the context's. A repair that would move most rows returns one
// that matches [ErrMoves]. However a repair ended, another one completes it, with the same outcome.
func (c *Checker) Repair(ctx context.Context, opts RepairOptions) (summary RepairSummary, err error) {
	defer func() { err = canceled(ctx, err) }()
	r := &repair{
		Checker: c, opts: opts.withDefaults(), skippedTrees: make(map[Key]bool), skippedRows: make(map[rowID]bool),
		creations: make(map[*row]*creation),
	}
	if err := c.checkLostFound(opts.LostFound); err != nil {
		return summary, err
	}
	f, err := c.read(ctx, opts.Tree, true)
	if err != nil {
		return summary, err
	}
	moves := f.moves()
	switch {
	case !opts.Apply:
		err = r.opts.Moves(moves)
	case moves.Reason != "" && !opts.AllowMoves:
		err = fmt.Errorf("%w: %d of %d of %s: %s", ErrMoves, moves.Moves, moves.Rows, c.table.Table, moves.Reason)
	}
	if err != nil {
		return summary, err
	}
	if r.summary.Before, err = f.tell(r.opts.Report); err != nil || r.summary.Before.Total() == 0 {
		r.summary.After = r.summary.Before
		return r.summary, err
	}
	if opts.Apply {
		err = record(opts.Log, logLine{Run: c.table.Table})
	}
	if err == nil {
		f, err = r.mend(ctx, f)
	}
	if err == nil && opts.Apply {
		f, err = c.read(ctx, opts.Tree, false)
	}
	if err == nil {
		r.summary.After, err = f.tell(r.opts.Left)
	}
	return r.summary, err
}

// mend repairs names and parents, and then the paths, which follow from them. It returns the state
// that it read last or, in a dry run, made.
func (r *repair) mend(ctx context.Context, f *forest) (*forest, error) {
	for range rounds {
		p := r.newPlan(f)
		if len(p.edits) == 0 {
			break
		}
		if _, err := r.apply(ctx, p); err != nil {
			return nil, err
		}
		if !r.opts.Apply {
			f.locate()
			break
		}
		var err error
		if f, err = r.read(ctx, r.opts.Tree, true); err != nil {
			return nil, err
		}
	}
	clear(r.skippedRows) // their paths may be mended all the same
	for range rounds {
		outdated, err := r.apply(ctx, r.planPaths(f))
		if err != nil || !outdated {
			return f, err
		}
		if f, err = r.read(ctx, r.opts.Tree, false); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// apply makes the edits of a plan, in transactions that each change a bounded number of rows of one
// tree. outdated says that others have changed some of the rows meanwhile, which are left as they
// are.
func (r *repair) apply(ctx context.Context, p *plan) (outdated bool, err error) {
	var trees []Key
	inTree := make(map[Key][]*edit)
	for _, e := range p.edits {
		tree := e.row.tree
		if inTree[tree] == nil {
			trees = append(trees, tree)
		}
		inTree[tree] = append(inTree[tree], e)
	}
	for _, tree := range trees {
		for part := range slices.Chunk(inTree[tree], r.opts.BatchRows) {
			late, err := r.batch(ctx, p, tree, part)
			if err == nil {
				err = r.reportSkips()
			}
			if err != nil {
				return false, err
			}
			outdated = outdated || late
		}
	}
	return outdated, r.reportSkips()
}

// skipTree skips a whole tree for the rest of the repair.
func (r *repair) skipTree(tree Key, why error) {
	if !r.skippedTrees[tree] {
		r.skippedTrees[tree] = true
		r.skips = append(r.skips, Skip{Tree: tree, Reason: why.Error()})
	}
}

// skipRow skips a row, until its path is repaired.
func (r *repair) skipRow(s Skip) {
	if id := (rowID{s.Leaves, s.ID}); !r.skippedRows[id] {
		r.skippedRows[id] = true
		r.skips = append(r.skips, s)
	}
}

// reportSkips counts and reports skips.
func (r *repair) reportSkips() error {
	skips := r.skips
	r.skips = nil
	for _, s := range skips {
		r.summary.Skipped++
		if err := r.opts.Skipped(s); err != nil {
			return err
		}
	}
	return nil
}

// changed counts and reports changes.
func (r *repair) changed(changes []Change) error {
	r.summary.Changes += int64(len(changes))
	for _, c := range changes {
		if err := r.opts.Changed(c); err != nil {
			return err
		}
	}
	return nil
}

// ErrMoves is matched by the error of a repair that would move most rows, without
// [RepairOptions.AllowMoves]. Nothing has been written.
var ErrMoves = errors.New("fsck: most rows would move")

// fewMoves is how many moves a repair may make without permission, however small the table is.
const fewMoves = 10

// MoveCount says how much of a table a repair would move: below lost+found, or nearer to the top
// than the paths say. If that is nearly everything, the parents are wrong rather than the paths.
type MoveCount struct {
	Moves int64 `json:"moves"`
	Rows  int64 `json:"rows"`
	// Reason is why the repair needs [RepairOptions.AllowMoves], "" if it does not.
	Reason string `json:"reason,omitempty"`
}

// moves counts the rows that a repair would move. Those below an orphan, a cycle or another row
// that moves stay below it.
func (f *forest) moves() MoveCount {
	m := MoveCount{Rows: int64(len(f.rows))}
	flat := true
	for _, r := range f.rows {
		flat = flat && r.isTop()
		// Of surplus names, those of the paths of the rows above do not count.
		if r.fault != faultNone || f.cycles[r] != nil || f.surplus(r) > max(0, f.surplus(r.up)) {
			m.Moves++
		}
	}
	switch {
	case m.Moves == 0:
	case flat:
		m.Reason = fmt.Sprintf("no row has a parent in %q, and paths name rows above them: fill the column first", f.table.Parent)
	case m.Moves > fewMoves && m.Moves > m.Rows/2:
		m.Reason = fmt.Sprintf("the column %q contradicts the paths of most rows: find out which is right", f.table.Parent)
	}
	return m
}

// surplus returns how many more rows the paths of a row name above it than its parents lead to.
func (f *forest) surplus(r *row) (n int) {
	if r == nil || r.state != placed {
		return 0
	}
	names := func(path string) int { return strings.Count(path, "/") }
	if r.path != nil && f.table.Path != "" {
		n = max(n, names(f.pathForm.Read(*r.path))-names(f.pathForm.Holds(r.wantPath)))
	}
	if r.idPath != nil && f.table.IDPath != "" {
		n = max(n, names(f.idForm.Read(*r.idPath))-names(f.idForm.Holds(r.wantIDPath)))
	}
	return n
}
