package section

import (
	"context"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock/bench/internal/contender"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/requests"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
	"github.com/pathlock-go/pathlock/internal/delayproxy"
)

// alone times an acquisition with its release in a tree that nobody else uses.
func (c *comparison) alone(ctx context.Context) ([]report.Table, error) {
	return c.timed(ctx, "alone", "acquire+release, nobody else in the tree", 0)
}

// among does the same where others hold.
func (c *comparison) among(ctx context.Context) ([]report.Table, error) {
	return c.timed(ctx, "among-others", fmt.Sprintf("acquire+release, %d others hold in the tree", rivalOthers), rivalOthers)
}

func (c *comparison) timed(ctx context.Context, tree, title string, held int) ([]report.Table, error) {
	locks := make([]contender.Lock, len(c.rivals))
	for i, r := range c.rivals {
		if err := occupy(ctx, c.there[i].store, tree, held); err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		lock, err := lockIn(c.here[i].store, tree, "case-1")
		if err != nil {
			return nil, err
		}
		locks[i] = lock
	}
	times := stats.NewSamples(c.plan.Rounds, len(locks))
	err := c.turns(ctx, c.plan.RivalPasses, func(round, i int) error {
		some, err := timed(ctx, locks[i], c.plan.RivalBatch)
		times.Add(round, i, some...)
		return err
	})
	return []report.Table{c.table(tree, title, "µs", times)}, err
}

// far is how far away the servers are, each way, while round trips are measured. It is much more
// than anything else takes.
const far = 20 * time.Millisecond

// trips measures how many times one has to wait for an answer, by the time that it takes from far
// away. What computes meanwhile only prolongs that, so the shortest time counts.
func (c *comparison) trips(ctx context.Context) ([]report.Table, error) {
	acquire, release := stats.NewSamples(c.plan.Rounds, len(c.rivals)), stats.NewSamples(c.plan.Rounds, len(c.rivals))
	for i, r := range c.rivals {
		if err := c.tripsOf(ctx, r, i, acquire, release); err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
	}
	fewest := func(id, title string, s *stats.Samples) report.Table {
		return report.NewTable(id, title, "round trips", "", c.names(), s.Quantiles(0))
	}
	return []report.Table{
		fewest("trips-acquire", "an acquisition, nobody else in the tree", acquire),
		fewest("trips-release", "a release, nobody else in the tree", release),
	}, nil
}

func (c *comparison) tripsOf(ctx context.Context, r rival, i int, acquire, release *stats.Samples) (err error) {
	var addrs []string
	for _, addr := range r.addrs {
		proxy, err := delayproxy.Start(ctx, addr, far)
		if err != nil {
			return err
		}
		defer func() { _ = proxy.Close() }()
		addrs = append(addrs, proxy.Addr())
	}
	opened, err := r.open(ctx, addrs)
	if err != nil {
		return err
	}
	defer func() {
		if failed := opened.close(context.WithoutCancel(ctx)); err == nil {
			err = failed
		}
	}()
	lock, err := lockIn(opened.store, "trips", "case-1")
	if err != nil {
		return err
	}
	const connects = 3
	if err := repeat(ctx, lock, connects); err != nil {
		return err
	}
	const atLeast = 6 // all together, so that one of them is not held up on a busy machine
	tries := max(2, atLeast/c.plan.Rounds)
	for round := range c.plan.Rounds {
		for range tries {
			began := time.Now()
			if err := lock.Acquire(ctx); err != nil {
				return err
			}
			acquired := time.Now()
			if err := lock.Release(ctx); err != nil {
				return err
			}
			acquire.Add(round, i, float64(acquired.Sub(began))/float64(2*far))
			release.Add(round, i, float64(time.Since(acquired))/float64(2*far))
		}
	}
	return nil
}

// watched is a store whose requests are counted.
type watched struct {
	instance
	count func() int64
	stop  []func() error
}

// watch opens a store whose requests are counted.
func (r rival) watch(ctx context.Context) (watched, error) {
	var w watched
	if r.statements != nil {
		var err error
		w.instance, w.count, err = r.statements()
		return w, err
	}
	var addrs []string
	var proxies []*requests.Proxy
	for _, addr := range r.addrs {
		proxy, err := requests.Start(ctx, addr, r.protocol)
		if err != nil {
			return w, err
		}
		proxies, addrs, w.stop = append(proxies, proxy), append(addrs, proxy.Addr()), append(w.stop, proxy.Close)
	}
	w.count = func() (n int64) {
		for _, p := range proxies {
			n += p.Count()
		}
		return n
	}
	var err error
	w.instance, err = r.open(ctx, addrs)
	return w, err
}

// end closes the store and its proxies.
func (w watched) end(ctx context.Context) {
	if w.close != nil {
		_ = w.close(context.WithoutCancel(ctx)) // what was measured stands
	}
	for _, f := range w.stop {
		_ = f()
	}
}

// requests counts what an acquisition with its release asks of the server.
func (c *comparison) requests(ctx context.Context) ([]report.Table, error) {
	var tables []report.Table
	for _, kind := range []struct{ tree, id, title string }{
		{"alone", "requests-alone", "acquire+release, nobody else in the tree"},
		{"among-others", "requests-among-others", fmt.Sprintf("acquire+release, %d others hold in the tree", rivalOthers)},
	} {
		counts := stats.NewSamples(c.plan.Rounds, len(c.rivals))
		for i, r := range c.rivals {
			if err := c.requestsOf(ctx, r, kind.tree, func(round int, n float64) { counts.Add(round, i, n) }); err != nil {
				return nil, fmt.Errorf("%s: %w", r.name, err)
			}
		}
		tables = append(tables, report.NewTable(kind.id, kind.title, "requests", "", c.names(), counts.Medians()))
	}
	return tables, nil
}

func (c *comparison) requestsOf(ctx context.Context, r rival, tree string, add func(round int, n float64)) error {
	w, err := r.watch(ctx)
	defer w.end(ctx)
	if err != nil {
		return err
	}
	lock, err := lockIn(w.store, tree, "case-1")
	if err != nil {
		return err
	}
	const first = 5 // connects, and makes what stays
	if err := repeat(ctx, lock, first); err != nil {
		return err
	}
	for round := range c.plan.Rounds {
		const times = 5
		for range times {
			before := w.count()
			if err := repeat(ctx, lock, 1); err != nil {
				return err
			}
			add(round, float64(w.count()-before))
		}
	}
	return nil
}

// oneTree measures what goroutines get done that lock different leaves of one tree.
func (c *comparison) oneTree(ctx context.Context) ([]report.Table, error) {
	return c.rates(ctx, "throughput-one-tree", fmt.Sprintf("%d goroutines in one tree, a leaf each: acquire+release", rivalGoroutines),
		func(int) string { return "shared" })
}

// ownTrees does the same where each has a tree of its own.
func (c *comparison) ownTrees(ctx context.Context) ([]report.Table, error) {
	return c.rates(ctx, "throughput-own-trees", fmt.Sprintf("%d goroutines in trees of their own: acquire+release", rivalGoroutines),
		func(g int) string { return fmt.Sprintf("own-%d", g) })
}

func (c *comparison) rates(ctx context.Context, id, title string, tree func(g int) string) ([]report.Table, error) {
	locks := make([][]contender.Lock, len(c.rivals))
	for i, r := range c.rivals {
		for g := range rivalGoroutines {
			lock, err := lockIn(c.here[i].store, tree(g), fmt.Sprintf("case-%d", g))
			if err != nil {
				return nil, err
			}
			locks[i] = append(locks[i], lock)
		}
		if _, err := together(ctx, locks[i], warmUp); err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
	}
	rates := stats.NewSamples(c.plan.Rounds, len(locks))
	err := c.turns(ctx, c.plan.RivalPasses, func(round, i int) error {
		took, err := together(ctx, locks[i], c.plan.RivalBatch)
		rates.Add(round, i, float64(rivalGoroutines*c.plan.RivalBatch)/took.Seconds())
		return err
	})
	return []report.Table{c.table(id, title, "/s", rates)}, err
}
