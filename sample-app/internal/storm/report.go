package storm

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/sample-app/internal/naive"
)

// row is the outcome under one kind of protection.
type row struct {
	protection
	*tally
	rows int64
	// corrupted counts the rows whose path, parent or root is wrong. orphans and cycles count some
	// of them once more.
	corrupted, orphans, cycles, duplicates int
	// left counts the trees in which a lock is left after all instances have ended.
	left     int
	examples []fsck.Problem
}

// shownProblems is how many problems the report quotes.
const shownProblems = 6

func newRow(p protection, t *tally, rows int64, problems []fsck.Problem) row {
	r := row{protection: p, tally: t, rows: rows}
	quoted := map[fsck.Kind]int{}
	corrupted := map[fsck.Key]bool{}
	for _, problem := range problems {
		switch problem.Kind {
		case fsck.Duplicate, fsck.Lookalike:
			r.duplicates++
		case fsck.Orphan:
			r.orphans++
			corrupted[problem.ID] = true
		case fsck.Cycle:
			r.cycles++
			corrupted[problem.ID] = true
		default:
			corrupted[problem.ID] = true
		}
		if quoted[problem.Kind]++; quoted[problem.Kind] <= 2 && len(r.examples) < shownProblems {
			r.examples = append(r.examples, problem)
		}
	}
	r.corrupted = len(corrupted)
	return r
}

// holds reports whether the protection held.
func (r row) holds() bool {
	return r.isNone() || r.corrupted == 0 && r.duplicates == 0 && r.left == 0 && r.failed == 0 && r.rejected == 0 && r.done > 0
}

// report collects the rows and writes them.
type report struct {
	config Config
	rows   []row
}

// begin writes what is about to happen.
func (r *report) begin() {
	c := r.config
	_, _ = fmt.Fprintf(c.Out, "storm: %d instances (processes of their own) with %d clients each, %s for each row, seed %d\n",
		c.Instances, c.Clients, c.Duration, c.Seed)
}

// add adds a row.
func (r *report) add(row row) {
	r.rows = append(r.rows, row)
	_, _ = fmt.Fprintf(r.config.Out, "  %s: done\n", row.what)
}

// finish writes the table and what it means.
func (r *report) finish() error {
	out := r.config.Out
	_, _ = fmt.Fprintln(out)
	table(out, r.rows)
	var broken []string
	for _, row := range r.rows {
		quote(out, row)
		if !row.holds() {
			broken = append(broken, row.what)
		}
	}
	_, _ = fmt.Fprintf(out, "\nAn unprotected handler reads a path, waits for up to %s, as handlers do, and writes. Its table has no unique index\n"+
		"over siblings. A conflict is a 409 or 423 answer. Any other answer that is neither a success nor a 404 is a failure.\n"+
		"The check at the end is that of pathlock fsck.\n", naive.Think)
	if len(broken) > 0 {
		return fmt.Errorf("%w: %s", ErrBroken, strings.Join(broken, ", "))
	}
	return nil
}

// table writes one line for each row.
func table(out io.Writer, rows []row) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(w, "\toperations\tconflicts\tfailures\tp50\tp99\tsuites\tcorrupted paths\torphans\tcycles\tduplicate siblings\tlocks left\t")
	for _, r := range rows {
		_, _ = fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t\n", r.what, r.done, r.conflicts, r.failed+r.rejected,
			millis(r.quantile(0.50)), millis(r.quantile(0.99)), r.rows, r.corrupted, r.orphans, r.cycles, r.duplicates, r.left)
	}
	_ = w.Flush()
}

// quote writes some of the problems and failures.
func quote(out io.Writer, r row) {
	if len(r.examples)+len(r.failures) == 0 {
		return
	}
	_, _ = fmt.Fprintf(out, "\n%s, for example:\n", r.what)
	for _, p := range r.examples {
		_, _ = fmt.Fprintf(out, "  %s\n", p)
	}
	for _, failure := range r.failures {
		_, _ = fmt.Fprintf(out, "  failure: %s\n", failure)
	}
}

func millis(d time.Duration) string { return fmt.Sprintf("%.1fms", float64(d.Microseconds())/1000) }
