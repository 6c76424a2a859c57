package stats

import (
	"context"
	"fmt"
	"slices"
)

// Turns gives each of n contenders a turn in each pass of each round. The order rotates from pass
// to pass, so that no contender is always first. Passes are short, so a disturbance of a second
// affects all contenders. It stops at the first error and when ctx ends.
func Turns(ctx context.Context, rounds, passes, n int, turn func(round, contender int) error) error {
	for pass := range rounds * passes {
		round := pass / passes
		for k := range n {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := turn(round, (pass+k)%n); err != nil {
				return fmt.Errorf("round %d: %w", round+1, err)
			}
		}
	}
	return nil
}

// Samples collects the measurements of each contender in each round.
type Samples struct {
	// values are by contender, then by round.
	values [][][]float64
}

// NewSamples returns an empty collection for n contenders.
func NewSamples(rounds, n int) *Samples {
	s := &Samples{make([][][]float64, n)}
	for i := range s.values {
		s.values[i] = make([][]float64, rounds)
	}
	return s
}

// Add adds samples of one contender in one round.
func (s *Samples) Add(round, contender int, samples ...float64) {
	s.values[contender][round] = append(s.values[contender][round], samples...)
}

// Medians returns the median of each contender's rounds: the first index is the contender, the
// second the round.
func (s *Samples) Medians() [][]float64 { return s.Quantiles(0.5) }

// Quantiles returns, for each contender's rounds, the value below which the fraction q of the
// round's samples lies: 0 is the smallest sample, and 1 the largest. Indices are as for
// [Samples.Medians]. A round without samples has NaN.
func (s *Samples) Quantiles(q float64) [][]float64 {
	quantiles := make([][]float64, len(s.values))
	for i, rounds := range s.values {
		for _, samples := range rounds {
			quantiles[i] = append(quantiles[i], quantile(slices.Sorted(slices.Values(samples)), q))
		}
	}
	return quantiles
}

// Counts returns how many samples each contender's rounds have. Indices are as for
// [Samples.Medians].
func (s *Samples) Counts() [][]float64 {
	counts := make([][]float64, len(s.values))
	for i, rounds := range s.values {
		for _, samples := range rounds {
			counts[i] = append(counts[i], float64(len(samples)))
		}
	}
	return counts
}
