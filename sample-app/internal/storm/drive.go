package storm

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock/sample-app/internal/model"
)

// requestTimeout is how long a client waits for an answer. It is longer than any answer may take,
// so a client that waits in vain has found a failure.
const requestTimeout = time.Minute

// drive has all clients change one plan for the duration of the storm, and counts their answers.
// The clients finish the actions that they have begun.
func drive(ctx context.Context, config Config, addrs []string) (*tally, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: 2 * config.Clients * config.Instances}
	defer transport.CloseIdleConnections()
	via := &http.Client{Transport: transport, Timeout: requestTimeout}
	var plan model.Plan
	if status, err := call(ctx, via, addrs[0], http.MethodPost, "/api/projects/storm/plans", fields{"name": "storm"}, &plan); err != nil || plan.ID == 0 {
		return nil, fmt.Errorf("create the plan: status %d: %w", status, err)
	}
	world := &world{suites: []int64{plan.RootID}}
	result := &tally{}
	end := time.Now().Add(config.Duration)
	var wg sync.WaitGroup
	for n := range config.Instances * config.Clients {
		c := &client{http: via, addrs: addrs, plan: plan, world: world, tally: result, rand: rand.New(rand.NewPCG(config.Seed, uint64(n)))}
		wg.Go(func() {
			for ctx.Err() == nil && time.Now().Before(end) {
				c.act(ctx)
			}
		})
	}
	wg.Wait()
	return result, context.Cause(ctx)
}
