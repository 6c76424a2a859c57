package storm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// crowd is how many suites the clients share, and names how many names they give: few enough that
// they collide.
const crowd, names = 24, 60

// world is the suites that all clients change. The first one is the root suite, which stays.
type world struct {
	mu     sync.Mutex
	suites []int64
}

// any returns one of the suites, but no root suite if branch is set, unless there is nothing else.
func (w *world) any(r *rand.Rand, branch bool) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := 0
	if branch && len(w.suites) > 1 {
		first = 1
	}
	return w.suites[first+r.IntN(len(w.suites)-first)]
}

// add shares a suite. In a full crowd, it takes the place of another one.
func (w *world) add(id int64, r *rand.Rand) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.suites) < crowd {
		w.suites = append(w.suites, id)
		return
	}
	w.suites[1+r.IntN(len(w.suites)-1)] = id
}

// remove forgets a deleted suite.
func (w *world) remove(id int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.suites, id); i > 0 {
		w.suites = slices.Delete(w.suites, i, i+1)
	}
}

// client is one user, who sends one request after the other.
type client struct {
	http  *http.Client
	addrs []string
	plan  plans.Plan
	world *world
	rand  *rand.Rand
	tally *tally
}

// fields is a JSON body.
type fields map[string]any

// act makes a random change to the suites that all clients share, by any instance.
func (c *client) act(ctx context.Context) {
	id, other := c.world.any(c.rand, true), c.world.any(c.rand, false)
	suite, name := fmt.Sprintf("/api/suites/%d", id), fmt.Sprint("n", c.rand.IntN(names))
	var made plans.Suite
	switch n := c.rand.IntN(20); {
	case n < 7:
		c.send(ctx, http.MethodPost, fmt.Sprintf("/api/plans/%d/suites", c.plan.ID), fields{"parent_id": other, "name": name}, &made)
	case n < 13 && id != c.plan.RootID:
		c.send(ctx, http.MethodPatch, suite, fields{"name": name}, nil)
	case n < 17 && id != c.plan.RootID:
		c.send(ctx, http.MethodPost, suite+"/move", fields{"parent_id": other}, nil)
	case n < 18 && id != c.plan.RootID:
		c.send(ctx, http.MethodPost, suite+"/copy", fields{"parent_id": c.plan.RootID, "name": name}, &made)
	case id != c.plan.RootID:
		if status := c.send(ctx, http.MethodDelete, suite, nil, nil); status < http.StatusBadRequest || status == http.StatusNotFound {
			c.world.remove(id)
		}
	}
	if made.ID != 0 {
		c.world.add(made.ID, c.rand)
	}
}

// send sends a request to any instance, and counts the answer. It returns the status, which is 0 if
// there was no answer.
func (c *client) send(ctx context.Context, method, path string, body fields, result any) (status int) {
	start := time.Now()
	status, err := call(ctx, c.http, c.addrs[c.rand.IntN(len(c.addrs))], method, path, body, result)
	if ctx.Err() == nil {
		c.tally.count(status, err, time.Since(start))
	}
	return status
}

// call sends a request, reads the body of a success into result, and returns the status. A 5xx
// status is an error, too.
func call(ctx context.Context, via *http.Client, addr, method, path string, body fields, result any) (status int, err error) {
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return 0, err
		}
		reader = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+addr+path, reader)
	if err != nil {
		return 0, err
	}
	resp, err := via.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return 0, err
	case resp.StatusCode >= http.StatusInternalServerError:
		err = fmt.Errorf("%s %s: %s: %.300s", method, path, resp.Status, text)
	case resp.StatusCode < http.StatusBadRequest && result != nil:
		err = json.Unmarshal(text, result)
	}
	return resp.StatusCode, err
}

// requestTimeout is how long a client waits for an answer. It is longer than any answer may take,
// so a client that waits in vain has found a failure.
const requestTimeout = time.Minute

// drive has all clients change one plan for the duration of the storm, and counts their answers.
// The clients finish the actions that they have begun.
func drive(ctx context.Context, config Config, addrs []string) (*tally, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: 2 * config.Clients * config.Instances}
	defer transport.CloseIdleConnections()
	via := &http.Client{Transport: transport, Timeout: requestTimeout}
	var plan plans.Plan
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
