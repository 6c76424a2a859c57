package storm

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/fsck"
)

// A protected row must not have a fault of any kind. An unprotected row may.
func TestVerdict(t *testing.T) {
	done := func(t *tally) { t.count(http.StatusOK, nil, time.Millisecond) }
	tests := []struct {
		what     string
		problems []fsck.Problem
		answers  func(*tally)
		left     int
		holds    bool
	}{
		{what: "changes made and refused", answers: func(t *tally) {
			done(t)
			t.count(http.StatusConflict, nil, 0)
			t.count(http.StatusLocked, nil, 0)
			t.count(http.StatusNotFound, nil, 0)
		}, holds: true},
		{what: "nothing done", answers: func(*tally) {}},
		{what: "a wrong path", answers: done, problems: []fsck.Problem{{Kind: fsck.WrongPath, ID: fsck.IntKey(1)}}},
		{what: "a cycle", answers: done, problems: []fsck.Problem{{Kind: fsck.Cycle, ID: fsck.IntKey(1)}}},
		{what: "two siblings of one name", answers: done, problems: []fsck.Problem{{Kind: fsck.Duplicate, ID: fsck.IntKey(1)}}},
		{what: "a lock that nobody holds", answers: done, left: 1},
		{what: "a 5xx", answers: func(t *tally) { done(t); t.count(http.StatusServiceUnavailable, errors.New("503"), 0) }},
		{what: "no answer", answers: func(t *tally) { done(t); t.count(0, errors.New("refused"), 0) }},
		{what: "a request that makes no sense", answers: func(t *tally) { done(t); t.count(http.StatusBadRequest, nil, 0) }},
	}
	for _, tt := range tests {
		for _, p := range protections {
			answers := &tally{}
			tt.answers(answers)
			row := newRow(p, answers, 7, tt.problems)
			row.left = tt.left
			if want := tt.holds || p.isNone(); row.holds() != want {
				t.Errorf("%s with %s: want it to hold = %t", tt.what, p.what, want)
			}
		}
	}
}
