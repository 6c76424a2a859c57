package section

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock/bench/internal/redisserver"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

// A server spends processor time while it works, and none while it waits.
func TestProcessorTimeIsWorkAndNotWaiting(t *testing.T) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		testserver.Missing(t, err.Error())
	}
	server, err := redisserver.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	client := redis.NewClient(&redis.Options{Addr: server.Addr})
	t.Cleanup(func() { _ = client.Close() })
	meter, idle := quietest(t, client)
	if meter.reading <= 0 || idle > meter.reading/2 {
		t.Errorf("nothing took the processor %v, and to ask for that %v, which is to be left out", idle, meter.reading)
	}
	during := func(what string, do func(ctx context.Context) error) time.Duration {
		t.Helper()
		used, err := meter.during(t.Context(), func() error { return do(t.Context()) })
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return used
	}
	const wait = time.Second
	waiting := during("waiting", func(ctx context.Context) error {
		if err := client.BLPop(ctx, wait, "nothing").Err(); !errors.Is(err, redis.Nil) {
			return err
		}
		return nil
	})
	var took time.Duration
	working := during("working", func(ctx context.Context) error {
		start := time.Now()
		defer func() { took = time.Since(start) }()
		return client.Eval(ctx, "local n = 0 for i = 1, 20000000 do n = n + i end return 1", nil).Err()
	})
	if waiting > wait/10 {
		t.Errorf("waiting for %v took the processor %v", wait, waiting)
	}
	if working <= waiting || working > took {
		t.Errorf("a script of at most %v took the processor %v, waiting %v", took, working, waiting)
	}
}

// quietest returns the one of several meters that measures the least for doing nothing, and that
// value. Others may use the machine while a meter is being made, and so distort its cost of a
// reading.
func quietest(t *testing.T, client *redis.Client) (best *cpuMeter, least time.Duration) {
	t.Helper()
	for range 5 {
		meter, err := newCPUMeter(t.Context(), client)
		if err != nil {
			t.Fatal(err)
		}
		idle := make([]float64, 51)
		for i := range idle {
			used, err := meter.during(t.Context(), func() error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			idle[i] = float64(used)
		}
		if took := time.Duration(stats.Median(idle)).Abs(); best == nil || took < least {
			best, least = meter, took
		}
	}
	return best, least
}
