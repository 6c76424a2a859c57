package stats

import (
	"context"
	"fmt"
)

// Turns gives each of n contenders a turn in each pass of each round. The order rotates from pass to pass, so that nobody
// always comes first; and since passes are short, what slows the machine down for a second falls on all contenders
// alike. It stops at the first error and when ctx ends.
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

// Samples collects what was measured of each contender in each round.
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

// Medians returns the median of each contender's rounds: the first index is the contender, the second the round.
func (s *Samples) Medians() [][]float64 {
	medians := make([][]float64, len(s.values))
	for i, rounds := range s.values {
		for _, samples := range rounds {
			medians[i] = append(medians[i], Median(samples))
		}
	}
	return medians
}
