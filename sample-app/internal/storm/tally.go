package storm

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// tally counts answers, by what they mean for a storm.
type tally struct {
	mu sync.Mutex
	// done are the changes that were made; conflicts those that were refused
	// because of others (409, 423); gone those of suites that somebody had deleted (404).
	done, conflicts, gone int
	// rejected are other answers that say the request is at fault, failed are 5xx answers and none
	// at all.
	rejected, failed int
	// failures are the first few of the latter.
	failures []string
	took     []time.Duration
}

// shownFailures is how many failures a report quotes.
const shownFailures = 5

func (t *tally) count(status int, err error, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.took = append(t.took, took)
	switch {
	case err != nil:
		t.failed++
		if len(t.failures) < shownFailures {
			t.failures = append(t.failures, err.Error())
		}
	case status < http.StatusBadRequest:
		t.done++
	case status == http.StatusConflict, status == http.StatusLocked:
		t.conflicts++
	case status == http.StatusNotFound:
		t.gone++
	default:
		t.rejected++
		if len(t.failures) < shownFailures {
			t.failures = append(t.failures, fmt.Sprintf("status %d", status))
		}
	}
}

// quantile returns the time within which the fraction q of all requests was answered.
func (t *tally) quantile(q float64) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.took) == 0 {
		return 0
	}
	slices.Sort(t.took)
	return t.took[int(q*float64(len(t.took)-1))]
}
