package redisserver

import (
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestScriptTimesAreThoseOfTheKeysUnderTest(t *testing.T) {
	entries := []redis.SlowLog{
		{Duration: 1 * time.Microsecond, Args: []string{"evalsha", "5ca1e", "2", "bench-a:{x}:locks", "bench-a:{x}:fence"}},
		{Duration: 2 * time.Microsecond, Args: []string{"EVALSHA", "5ca1e", "1", "bench-a:{y}:locks", "argument"}},
		{Duration: 3 * time.Microsecond, Args: []string{"evalsha", "5ca1e", "1", "bench-b:{x}:locks"}},
		{Duration: 4 * time.Microsecond, Args: []string{"hmget", "5ca1e", "1", "bench-a:{x}:locks"}},
		{Duration: 5 * time.Microsecond, Args: []string{"evalsha", "5ca1e", "0", "bench-a:{x}:locks"}},
		{Duration: 6 * time.Microsecond, Args: []string{"evalsha", "5ca1e", "0"}},
	}
	want := []time.Duration{1 * time.Microsecond, 2 * time.Microsecond}
	if got := scriptTimes(entries, "bench-a:"); !slices.Equal(got, want) {
		t.Errorf("times are %v, want %v", got, want)
	}
}
