package fsck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

// RepairOptions say how to repair. The zero RepairOptions are a dry run over the whole table.
type RepairOptions struct {
	// Tree restricts the repair to one tree; the zero Key is all.
	Tree Key
	// Apply makes the changes. Without it nothing is written, and Changed is told what would be.
	Apply bool
	// Locker, if set, takes the gate of a tree for each transaction that changes it. Without one, row locks
	// alone keep the changes right while others write.
	Locker *pathlock.Locker
	// Wait is how long to wait for a gate, and for a row that somebody else has locked; 0 is a
	// minute. A tree that is busy for longer is left as it is.
	Wait time.Duration
	// BatchRows is how many rows a transaction mends at most; 0 is 500. One that also creates a lost+found changes one more,
	// and one in which unique indexes refuse paths puts aside at most two more for each.
	BatchRows int
	// LostFound is the name of the rows that get what has no place; empty is [DefaultLostFound]. One that no path can have is an error that
	// matches [pathlock.ErrInvalidPath].
	LostFound string
	// ToTop puts what has no place at the top of its tree, instead of below a lost+found.
	ToTop bool
	// Log, if set, gets each change as a line of JSON before it is committed, and a line when it has been. An
	// [os.File] that is no pipe is synchronised each time.
	Log io.Writer
	// Report, if set, is told of the problems as the first check finds them.
	Report func(Problem) error
	// Changed, if set, is told of each change that has been committed or, in a dry run, would be.
	Changed func(Change) error
	// Left, if set, is told of the problems that remain.
	Left func(Problem) error
	// Skipped, if set, is told of the rows and trees that could not be mended, and why.
	Skipped func(Skip) error
	// Progress, if set, is told now and then how many rows of how many a phase has done.
	Progress func(phase string, done, total int64)
}

// Defaults of [RepairOptions].
const (
	defaultBatchRows = 500
	defaultGateWait  = time.Minute
)

// RepairSummary is the outcome of a repair.
type RepairSummary struct {
	// Before is what the first check found.
	Before Summary `json:"before"`
	// Changes is the number of values that were changed, or would be.
	Changes int64 `json:"changes"`
	// Transactions is how many were committed.
	Transactions int `json:"transactions"`
	// Skipped is the number of rows and trees that could not be mended.
	Skipped int64 `json:"skipped,omitempty"`
	// After is what a second check found; in a dry run, what would be left.
	After Summary `json:"after"`
}

// repair is a repair under way.
type repair struct {
	*Checker
	opts        RepairOptions
	log         changeLog
	transaction int
	summary     RepairSummary
	// dry is set in a dry run: the one transaction that it reads in, with what it would have changed.
	dry *session

	// What is known of the database's state: the root rows and the lost+founds, for as long as a
	// transaction has them locked, and the numbers that names were given. It is forgotten when a
	// transaction is rolled back.
	roots   map[Key]*row
	homes   map[Key]Key
	numbers map[sibling]int
	// homeless says why no lost+found can be made in a tree; left has the trees that are left as
	// they are.
	homeless map[Key]error
	left     map[Key]bool
}

// Repair checks the table and mends what it finds, as the package's documentation says, in transactions of a
// bounded number of rows. When ctx ends, it stops between two of them. Whenever and however it was ended,
// another run completes it, and the outcome is the same.
func (c *Checker) Repair(ctx context.Context, opts RepairOptions) (summary RepairSummary, err error) {
	defer func() { err = canceled(ctx, err) }()
	r := &repair{Checker: c, opts: opts.withDefaults(), log: changeLog{opts.Log}, homeless: make(map[Key]error), left: make(map[Key]bool)}
	if err := checkName(r.opts.LostFound); err != nil {
		return summary, fmt.Errorf("fsck: the name of lost+found: %w", err)
	}
	r.forget()
	suspects := make(lineup)
	defer func() { err = errors.Join(err, suspects.close()) }()
	if r.summary.Before, err = c.Check(ctx, Options{Tree: opts.Tree, Progress: r.phase("check")}, func(p Problem) error {
		if err := r.tell(r.opts.Report, p); err != nil {
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
		return r.tell(r.opts.Left, p)
	})
	return r.summary, err
}

func (o RepairOptions) withDefaults() RepairOptions {
	if o.BatchRows <= 0 {
		o.BatchRows = defaultBatchRows
	}
	if o.Wait == 0 {
		o.Wait = defaultGateWait
	}
	if o.LostFound == "" {
		o.LostFound = DefaultLostFound
	}
	return o
}

// tell hands a problem to those who want to know.
func (r *repair) tell(f func(Problem) error, p Problem) error {
	if f == nil {
		return nil
	}
	return f(p)
}

// phase returns the progress of one phase, or nil if nobody wants to know.
func (r *repair) phase(name string) func(done, total int64) {
	if r.opts.Progress == nil {
		return nil
	}
	return func(done, total int64) { r.opts.Progress(name, done, total) }
}

// forget drops what is known of the database's state.
func (r *repair) forget() {
	r.roots, r.homes, r.numbers = make(map[Key]*row), make(map[Key]Key), make(map[sibling]int)
}

// remembered bounds what a repair remembers of the database's state.
const remembered = 10_000

// number remembers which number a name was given last.
func (r *repair) number(slot sibling, n int) {
	if len(r.numbers) >= remembered {
		clear(r.numbers)
	}
	r.numbers[slot] = n
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
	r.dry = &session{Checker: r.Checker, tx: tx, plan: newOverlay()}
	if err := r.mend(ctx, suspects); err != nil {
		return r.summary, err
	}
	r.summary.After.Problems = make(map[Kind]int64)
	r.summary.After.Rows, err = r.dry.scan(ctx, Options{Tree: r.opts.Tree}, func(p Problem) error {
		if p.Kind == WrongPath || p.Kind == WrongIDPath {
			return nil // would have been mended
		}
		r.summary.After.Problems[p.Kind]++
		return r.tell(r.opts.Left, p)
	})
	return r.summary, err
}

// step mends the problems of one kind.
type step struct {
	kind Kind
	mend func(*editor, context.Context, Key) error
}

// steps are the kinds of problems that are mended one by one, in their order.
var steps = []step{
	{NoTree, (*editor).mendTree},
	{BadName, (*editor).mendName},
	{Orphan, (*editor).mendOrphan},
	{Cycle, (*editor).mendCycle},
	{BesideRoot, (*editor).mendBeside},
	{Duplicate, (*editor).mendSibling},
	{Lookalike, (*editor).mendSibling},
}

// mend makes the rows' names and parents right, one kind of problem after the other, and then the paths.
func (r *repair) mend(ctx context.Context, suspects lineup) error {
	for _, step := range steps {
		s := suspects[step.kind]
		if s == nil {
			continue
		}
		done := int64(0)
		err := s.each(r.opts.BatchRows, func(batch []suspect) error {
			if step.kind != NoTree {
				if err := r.inTreesByNow(ctx, batch); err != nil {
					return err
				}
			}
			err := r.batch(ctx, batch, func(ctx context.Context, e *editor, keys []Key) error {
				for _, k := range keys {
					if err := e.one(ctx, k, step.kind, func() error { return step.mend(e, ctx, k) }); err != nil {
						return err
					}
				}
				return nil
			})
			if done += int64(len(batch)); r.opts.Progress != nil {
				r.opts.Progress("mend: "+string(step.kind), done, s.n)
			}
			return err
		})
		if err == nil && step.kind == NoTree {
			err = r.closed(ctx, suspects)
		}
		if err != nil {
			return err
		}
	}
	return r.paths(ctx)
}

// reading is what a repair reads in between its transactions: on any connection or, in a dry run, in
// the transaction that there is.
func (r *repair) reading() *session {
	if r.dry != nil {
		return r.dry
	}
	return &session{Checker: r.Checker}
}

// paths mends the paths of all rows, page by page. What is right follows from names and parents alone, so that
// the order does not matter.
func (r *repair) paths(ctx context.Context) error {
	var wrong []suspect
	flush := func(least int) error {
		for len(wrong) >= least && len(wrong) > 0 {
			n := min(len(wrong), r.opts.BatchRows)
			if err := r.batch(ctx, wrong[:n], func(ctx context.Context, e *editor, keys []Key) error { return e.mendPaths(ctx, keys) }); err != nil {
				return err
			}
			wrong = wrong[:copy(wrong, wrong[n:])]
		}
		return nil
	}
	opts := Options{Tree: r.opts.Tree, Progress: r.phase("mend: paths")}
	_, err := r.reading().scan(ctx, opts, func(p Problem) error {
		if p.Kind != WrongPath && p.Kind != WrongIDPath || len(wrong) > 0 && wrong[len(wrong)-1].key == p.ID {
			return nil
		}
		wrong = append(wrong, suspect{p.Tree, p.ID})
		return flush(r.opts.BatchRows)
	})
	if err != nil {
		return err
	}
	return flush(1)
}
