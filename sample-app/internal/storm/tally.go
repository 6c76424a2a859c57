package storm

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

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

// quantile returns the time within which a fraction q of all requests was answered.
func (t *tally) quantile(q float64) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.took) == 0 {
		return 0
	}
	slices.Sort(t.took)
	return t.took[int(q*float64(len(t.took)-1))]
}
