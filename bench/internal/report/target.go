package report

import (
	"fmt"

	"github.com/pathlock-go/pathlock/bench/internal/stats"
)

// Relation says on which side of its limit a measurement should be.
type Relation string

// The relations.
const (
	AtMost  Relation = "at most"
	AtLeast Relation = "at least"
	Under   Relation = "under"
)

// Target is a goal, and the measurement that is judged by it.
type Target struct {
	// ID is unique in its section. It stays the same when the wording changes.
	ID string `json:"id"`
	// What says what is compared with what.
	What     string   `json:"what"`
	Relation Relation `json:"relation"`
	Limit    float64  `json:"limit"`
	// Unit is that of the limit and the measurement; "" means a ratio.
	Unit     string       `json:"unit,omitempty"`
	Measured stats.Spread `json:"measured"`
	// Reached says whether the median is on the right side of the limit.
	Reached bool `json:"reached"`
	// MissedBy is the fraction of the limit by which the median misses it: 0.05 is 5 %. It is 0 if
	// the target is reached. If the limit is 0, it is the measurement itself.
	MissedBy float64 `json:"missed_by"`
}

// Judge sets Reached and MissedBy from the measurement.
func Judge(t Target) Target {
	median := t.Measured.Median
	switch t.Relation {
	case AtMost:
		t.Reached = median <= t.Limit
	case Under:
		t.Reached = median < t.Limit
	case AtLeast:
		t.Reached = median >= t.Limit
	}
	t.MissedBy = 0
	if !t.Reached {
		t.MissedBy = max(median-t.Limit, t.Limit-median)
		if t.Limit != 0 {
			t.MissedBy /= t.Limit
		}
	}
	return t
}

// Verdict says in words whether the target was reached.
func (t Target) Verdict() string {
	switch {
	case t.Reached:
		return "reached"
	case t.Limit == 0:
		return "MISSED"
	}
	return fmt.Sprintf("MISSED by %.0f %%", max(100*t.MissedBy, 1))
}
