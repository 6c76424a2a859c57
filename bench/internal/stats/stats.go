package stats

import (
	"math"
	"slices"
)

// Median returns the middle of values, the mean of the two middle ones if their number is even, and
// NaN if there are none. The values stay as they are.
func Median(values []float64) float64 { return quantile(slices.Sorted(slices.Values(values)), 0.5) }

// quantile interpolates between the two values of a sorted list that are nearest to the place q, 0
// the first and 1 the last.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	place := q * float64(len(sorted)-1)
	below := int(place)
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (sorted[above]-sorted[below])*(place-float64(below))
}

// Spread says where the values of several rounds lie.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	// Low and High are the first and the third quartile: half of the rounds lie between them.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	Max  float64 `json:"max"`
}

// SpreadOf summarises values, of which there has to be one at least.
func SpreadOf(values []float64) Spread {
	s := slices.Sorted(slices.Values(values))
	return Spread{quantile(s, 0.5), quantile(s, 0), quantile(s, 0.25), quantile(s, 0.75), quantile(s, 1)}
}

// Ratios divides each round of values by the same round of baseline. Rounds that one of them lacks
// are left out.
func Ratios(values, baseline []float64) []float64 {
	n := min(len(values), len(baseline))
	ratios := make([]float64, n)
	for i := range n {
		ratios[i] = values[i] / baseline[i]
	}
	return ratios
}

// Differences subtracts from each round of values the same round of baseline. Rounds that one of
// them lacks are left out.
func Differences(values, baseline []float64) []float64 {
	n := min(len(values), len(baseline))
	differences := make([]float64, n)
	for i := range n {
		differences[i] = values[i] - baseline[i]
	}
	return differences
}
