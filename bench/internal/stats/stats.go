package stats

import (
	"math"
	"slices"
)

// Median returns the middle value, the mean of the two middle ones if their number is even, and NaN
// if there are none. It does not change values.
func Median(values []float64) float64 { return quantile(slices.Sorted(slices.Values(values)), 0.5) }

// quantile interpolates between the two values of a sorted list next to the place q, where 0 is the
// first value and 1 the last.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	place := q * float64(len(sorted)-1)
	below := int(place)
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (sorted[above]-sorted[below])*(place-float64(below))
}

// Spread describes the values of several rounds.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	// Low and High are the first and the third quartile: half of the rounds lie between them.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	Max  float64 `json:"max"`
}

// SpreadOf summarises values. There must be at least one.
func SpreadOf(values []float64) Spread {
	s := slices.Sorted(slices.Values(values))
	return Spread{quantile(s, 0.5), quantile(s, 0), quantile(s, 0.25), quantile(s, 0.75), quantile(s, 1)}
}

// Ratios divides each round of values by the same round of baseline. It leaves out rounds that one
// of them lacks.
func Ratios(values, baseline []float64) []float64 {
	n := min(len(values), len(baseline))
	ratios := make([]float64, n)
	for i := range n {
		ratios[i] = values[i] / baseline[i]
	}
	return ratios
}

// Differences subtracts the same round of baseline from each round of values. It leaves out rounds
// that one of them lacks.
func Differences(values, baseline []float64) []float64 {
	n := min(len(values), len(baseline))
	differences := make([]float64, n)
	for i := range n {
		differences[i] = values[i] - baseline[i]
	}
	return differences
}
