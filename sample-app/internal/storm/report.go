package storm

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// row is the outcome under one kind of protection.
type row struct {
	protection
	*tally
	rows     int64
	problems []fsck.Problem
	// corrupted counts the rows whose path, parent or root is wrong. orphans and cycles count some
	// of them once more.
	corrupted, orphans, cycles, duplicates int
	// left counts the trees in which a lock is left after all instances have ended.
	left int
}

// shownOfAKind is how many problems of each kind the report quotes.
const shownOfAKind = 2

func newRow(p protection, t *tally, rows int64, problems []fsck.Problem) row {
	r := row{protection: p, tally: t, rows: rows, problems: problems}
	corrupted := map[fsck.Key]bool{}
	for _, problem := range problems {
		switch problem.Kind {
		case fsck.Duplicate, fsck.Lookalike:
			r.duplicates++
			continue
		case fsck.Orphan:
			r.orphans++
		case fsck.Cycle:
			r.cycles++
		}
		corrupted[problem.ID] = true
	}
	r.corrupted = len(corrupted)
	return r
}

// holds reports whether the protection held.
func (r row) holds() bool {
	return r.isNone() || r.corrupted == 0 && r.duplicates == 0 && r.left == 0 && r.failed == 0 && r.rejected == 0 && r.done > 0
}

// report writes the rows, some of the problems and failures of each, and what they mean.
func report(out io.Writer, rows []row) {
	_, _ = fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(w, "\toperations\tconflicts\tfailures\tp50\tp99\tsuites\tcorrupted paths\torphans\tin cycles\tduplicate siblings\tlocks left\t")
	for _, r := range rows {
		_, _ = fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t\n", r.what, r.done, r.conflicts, r.failed+r.rejected,
			millis(r.quantile(0.50)), millis(r.quantile(0.99)), r.rows, r.corrupted, r.orphans, r.cycles, r.duplicates, r.left)
	}
	_ = w.Flush()
	for _, r := range rows {
		if len(r.problems)+len(r.failures) > 0 {
			_, _ = fmt.Fprintf(out, "\n%s, for example:\n", r.what)
		}
		quoted := map[fsck.Kind]int{}
		for _, p := range r.problems {
			if quoted[p.Kind]++; quoted[p.Kind] <= shownOfAKind {
				_, _ = fmt.Fprintf(out, "  %s\n", p)
			}
		}
		for _, failure := range r.failures {
			_, _ = fmt.Fprintf(out, "  failure: %s\n", failure)
		}
	}
	_, _ = fmt.Fprintf(out, "\nAn unprotected handler reads a path, waits for up to %s, as handlers do, and writes. Its table has no unique index\n"+
		"over siblings. A conflict is a 409 or 423 answer. Any other answer that is neither a success nor a 404 is a failure.\n"+
		"The check at the end is that of pathlock fsck.\n", plans.Think)
}

func millis(d time.Duration) string { return fmt.Sprintf("%.1fms", float64(d.Microseconds())/1000) }

// tally counts answers by their meaning for a storm.
type tally struct {
	mu sync.Mutex
	// done counts successes, conflicts the requests refused because of others (409, 423), and gone
	// those for a suite that somebody had deleted (404).
	done, conflicts, gone int
	// rejected counts the other 4xx answers, and failed the 5xx answers and missing answers.
	rejected, failed int
	// failures quotes the first few of the rejected and failed.
	failures []string
	took     []time.Duration
}

// shownFailures is how many failures the report quotes.
const shownFailures = 5

func (t *tally) count(status int, err error, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.took = append(t.took, took)
	switch {
	case err != nil:
		t.failed++
		t.failures = append(t.failures, err.Error())
	case status < http.StatusBadRequest:
		t.done++
	case status == http.StatusConflict, status == http.StatusLocked:
		t.conflicts++
	case status == http.StatusNotFound:
		t.gone++
	default:
		t.rejected++
		t.failures = append(t.failures, fmt.Sprintf("status %d", status))
	}
	t.failures = t.failures[:min(len(t.failures), shownFailures)]
}

// quantile returns the time within which a fraction q of all requests was answered, once all are.
func (t *tally) quantile(q float64) time.Duration {
	if len(t.took) == 0 {
		return 0
	}
	slices.Sort(t.took)
	return t.took[int(q*float64(len(t.took)-1))]
}
