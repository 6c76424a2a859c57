package section

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock/bench/internal/redisserver"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
)

// cpuNote is a note for every table of processor time.
const cpuNote = "processor time is that of Redis's main thread, by INFO cpu, for one acquisition with its release: what it waits for a processor is not in it; compare ratios"

// cpuMeter measures the processor time that a server spends on operations.
type cpuMeter struct {
	client redis.UniversalClient
	// reading is the cost of a reading.
	reading time.Duration
}

// newCPUMeter measures the cost of a reading.
func newCPUMeter(ctx context.Context, client redis.UniversalClient) (*cpuMeter, error) {
	const readings = 21
	m := &cpuMeter{client: client}
	costs := make([]float64, readings)
	for i := range costs {
		cost, err := m.during(ctx, func() error { return nil })
		if err != nil {
			return nil, err
		}
		costs[i] = float64(cost)
	}
	m.reading = time.Duration(stats.Median(costs))
	return m, nil
}

// during returns the processor time that the server spends while do runs, with its background work.
func (m *cpuMeter) during(ctx context.Context, do func() error) (time.Duration, error) {
	before, err := redisserver.ReadCPU(ctx, m.client)
	if err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	after, err := redisserver.ReadCPU(ctx, m.client)
	return after - before - m.reading, err
}
