package daemon

import (
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	for _, tt := range []struct {
		name, stat string
		want       time.Duration
		fails      bool
	}{
		{"a plain name", "42 (server) S 1 42 42 0 -1 4194560 100 0 0 0 150 50 0 0 20 0 8 0 1 1 1", 2 * time.Second, false},
		{"a name with anything in it", "42 (a) b 1 2) S 1 42 42 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 8 0 1 1 1", 30 * time.Millisecond, false},
		{"too short", "42 (server) S 1 42", 0, true},
		{"nothing", "", 0, true},
		{"no number", "42 (server) S 1 42 42 0 -1 4194560 100 0 0 0 x 50 0 0 20 0 8", 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseStat([]byte(tt.stat))
			if got != tt.want || (err != nil) != tt.fails {
				t.Errorf("%v, %v, want %v, and an error: %v", got, err, tt.want, tt.fails)
			}
		})
	}
}
