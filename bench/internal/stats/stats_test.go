package stats_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/pathlock-go/pathlock/bench/internal/stats"
)

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		name   string
		values []float64
		want   float64
	}{
		{"one", []float64{7}, 7},
		{"odd, unordered", []float64{9, 1, 5}, 5},
		{"even: between the middle ones", []float64{4, 1, 3, 100}, 3.5},
		{"an outlier does not move it", []float64{1, 2, 1e9}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := slices.Clone(tt.values)
			if got := stats.Median(tt.values); got != tt.want {
				t.Errorf("median of %v is %v, want %v", tt.values, got, tt.want)
			}
			if !slices.Equal(tt.values, before) {
				t.Errorf("the values were changed to %v", tt.values)
			}
		})
	}
	if got := stats.Median(nil); !math.IsNaN(got) {
		t.Errorf("median of nothing is %v, want NaN", got)
	}
}

func TestSpreadOf(t *testing.T) {
	got := stats.SpreadOf([]float64{5, 3, 1, 4, 2})
	if want := (stats.Spread{Median: 3, Min: 1, Low: 2, High: 4, Max: 5}); got != want {
		t.Errorf("spread of 1 to 5 is %+v, want %+v", got, want)
	}
}

// A slow second that affects both sides of a round does not change the round's ratio. This is the
// purpose of rounds.
func TestRatiosAreTakenWithinRounds(t *testing.T) {
	values, baseline := []float64{2, 20, 2}, []float64{1, 10, 1}
	if got, want := stats.Ratios(values, baseline), []float64{2, 2, 2}; !slices.Equal(got, want) {
		t.Errorf("ratios are %v, want %v", got, want)
	}
	if got, want := stats.Ratios([]float64{6, 8}, []float64{2}), []float64{3}; !slices.Equal(got, want) {
		t.Errorf("with a round that the baseline lacks: %v, want %v", got, want)
	}
}

func TestTurnsRotate(t *testing.T) {
	type turn struct{ round, contender int }
	var got []turn
	err := stats.Turns(t.Context(), 2, 2, 3, func(round, contender int) error {
		got = append(got, turn{round, contender})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []turn{
		{0, 0}, {0, 1}, {0, 2},
		{0, 1}, {0, 2}, {0, 0},
		{1, 2}, {1, 0}, {1, 1},
		{1, 0}, {1, 1}, {1, 2},
	}
	if !slices.Equal(got, want) {
		t.Errorf("turns are %v, want %v", got, want)
	}
}

func TestTurnsStop(t *testing.T) {
	broken := errors.New("broken")
	turns := 0
	err := stats.Turns(t.Context(), 5, 1, 2, func(round, _ int) error {
		turns++
		if round == 1 {
			return broken
		}
		return nil
	})
	if !errors.Is(err, broken) || turns != 3 {
		t.Errorf("%v after %d turns, want the error of the third", err, turns)
	}

	ctx, cancel := context.WithCancel(t.Context())
	turns = 0
	err = stats.Turns(ctx, 5, 1, 2, func(int, int) error {
		turns++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || turns != 1 {
		t.Errorf("%v after %d turns, want to stop when the context ends", err, turns)
	}
}

func TestSamplesAreSummedUpByRound(t *testing.T) {
	s := stats.NewSamples(2, 2)
	s.Add(0, 0, 1, 3)
	s.Add(0, 0, 2)
	s.Add(1, 0, 10)
	s.Add(0, 1, 7)
	s.Add(1, 1, 8, 9)
	got := s.Medians()
	if want := [][]float64{{2, 10}, {7, 8.5}}; !slices.EqualFunc(got, want, slices.Equal[[]float64]) {
		t.Errorf("medians are %v, want %v", got, want)
	}
}

// One of a hundred scripts is interrupted. The 99th percentile hardly notices, and the maximum is
// that script.
func TestQuantilesOfSamples(t *testing.T) {
	s := stats.NewSamples(2, 1)
	for i := range 101 {
		s.Add(0, 0, float64(100-i))
	}
	s.Add(1, 0, 5, 9000, 7)
	for _, tt := range []struct {
		q    float64
		want []float64
	}{
		{0, []float64{0, 5}},
		{0.5, []float64{50, 7}},
		{0.99, []float64{99, 7 + 0.98*(9000-7)}},
		{1, []float64{100, 9000}},
	} {
		got := s.Quantiles(tt.q)
		if len(got) != 1 || !slices.EqualFunc(got[0], tt.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }) {
			t.Errorf("quantile %v is %v, want %v", tt.q, got, tt.want)
		}
	}
	if got, want := s.Counts(), []float64{101, 3}; len(got) != 1 || !slices.Equal(got[0], want) {
		t.Errorf("counts are %v, want %v", got, want)
	}
	if got := stats.NewSamples(1, 1).Quantiles(0.99); !math.IsNaN(got[0][0]) {
		t.Errorf("a quantile of nothing is %v, want NaN", got)
	}
}
