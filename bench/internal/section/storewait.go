package section

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
)

// wakeOne measures the time from a release to the grant of one waiter in another store.
func (c *comparison) wakeOne(ctx context.Context) ([]report.Table, error) {
	const tree = "wake-one"
	times := stats.NewSamples(c.plan.Rounds, len(c.rivals))
	for i, r := range c.rivals {
		if _, err := wake(ctx, tree, c.here[i].store, c.there[i].store); err != nil { // warms up
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
	}
	err := c.turns(ctx, 1, func(round, i int) error {
		for range c.plan.RivalWakeUps {
			took, err := wake(ctx, tree, c.here[i].store, c.there[i].store)
			if err != nil {
				return err
			}
			times.Add(round, i, microseconds(took))
		}
		return nil
	})
	return []report.Table{c.table("wake-one", "one waiter in another store: from release to grant", "µs", times)}, err
}

// wake makes a request in one store wait for one in another, and returns how long it takes from the
// release to the grant.
func wake(ctx context.Context, tree string, holding, waiting pathlock.Store) (time.Duration, error) {
	holder, err := lockIn(holding, tree, "case-1")
	if err != nil {
		return 0, err
	}
	if err := holder.Acquire(ctx); err != nil {
		return 0, err
	}
	line := newWaitingLine(ctx)
	if err := line.add(ctx, waiting, tree); err != nil {
		_ = holder.Release(ctx) // the first error counts
		return 0, err
	}
	// A polling store asks more and more rarely, so the wait has to have some length, and its end
	// must not be in step with the questions.
	const shortest, more = 150 * time.Millisecond, 100 * time.Millisecond
	select {
	case <-time.After(shortest + rand.N(more)):
	case <-ctx.Done():
	}
	start := time.Now()
	err = holder.Release(ctx)
	if failed := line.end(err != nil); err == nil {
		err = failed
	}
	return line.granted[0].Sub(start), err
}

// waitingLine are requests for one leaf that wait in the order in which they were added. Each
// releases what it gets at once.
type waitingLine struct {
	group   *errgroup.Group
	waits   context.Context
	giveUp  context.CancelFunc
	granted []time.Time
}

func newWaitingLine(ctx context.Context) *waitingLine {
	waits, giveUp := context.WithCancel(ctx)
	group, waits := errgroup.WithContext(waits)
	return &waitingLine{group: group, waits: waits, giveUp: giveUp, granted: make([]time.Time, 0, 100)}
}

// add adds a request, and returns when it waits.
func (l *waitingLine) add(ctx context.Context, store pathlock.Store, tree string) error {
	lock, err := lockIn(store, tree, "case-1")
	if err != nil {
		return err
	}
	queued := make(chan struct{})
	lock.request.Wait, lock.request.Waiting = time.Minute, func() { close(queued) }
	i := len(l.granted)
	l.granted = append(l.granted, time.Time{})
	l.group.Go(func() error {
		if err := lock.Acquire(l.waits); err != nil {
			return err
		}
		l.granted[i] = time.Now()
		return lock.Release(l.waits)
	})
	select {
	case <-queued:
		return nil
	case <-l.waits.Done():
		return l.end(true)
	case <-ctx.Done():
		return l.end(true)
	}
}

// end returns when all requests have ended. They are cut short if something has failed.
func (l *waitingLine) end(failed bool) error {
	defer l.giveUp()
	if failed {
		l.giveUp()
	}
	return l.group.Wait()
}

// queues measures queues for one leaf: the time of a hand-over, and the requests for each waiter.
func (c *comparison) queues(ctx context.Context) ([]report.Table, error) {
	var times, counts []report.Table
	for _, n := range c.plan.QueuedIn {
		took, sent := stats.NewSamples(c.plan.Rounds, len(c.rivals)), stats.NewSamples(c.plan.Rounds, len(c.rivals))
		if err := c.queuesOf(ctx, n, took, sent); err != nil {
			return nil, err
		}
		times = append(times, c.table(fmt.Sprintf("handover-%d", n), fmt.Sprintf("%d waiters in a queue: from release to the last grant, for each", n), "µs", took))
		counts = append(counts, report.NewTable(perWaiterID(n), fmt.Sprintf("%d waiters in a queue: from release to the last release, for each", n), "requests", "", c.names(), sent.Medians()))
	}
	return append(times, counts...), nil
}

func perWaiterID(n int) string { return fmt.Sprintf("requests-per-waiter-%d", n) }

// identifier makes a name fit for an id.
func identifier(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "-") }

func (c *comparison) queuesOf(ctx context.Context, n int, took, sent *stats.Samples) error {
	tree := fmt.Sprintf("queue-%d", n)
	counting := make([][2]watched, len(c.rivals))
	defer func() {
		for _, two := range counting {
			two[0].end(ctx)
			two[1].end(ctx)
		}
	}()
	for i, r := range c.rivals {
		for k := range counting[i] {
			w, err := r.watch(ctx)
			counting[i][k] = w
			if err != nil {
				return err
			}
		}
		stores := [2]pathlock.Store{counting[i][0].store, counting[i][1].store}
		if _, err := drainLine(ctx, tree, c.here[i].store, stores, n); err != nil { // warms up
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return c.turns(ctx, 1, func(round, i int) error {
		lasted, err := drainLine(ctx, tree, c.here[i].store, [2]pathlock.Store{c.there[i].store, c.elsewhere[i].store}, n)
		if err != nil {
			return err
		}
		took.Add(round, i, microseconds(lasted)/float64(n))
		two := counting[i]
		asked := func() int64 { return two[0].count() + two[1].count() }
		var before int64
		if _, err = drainLine(ctx, tree, c.here[i].store, [2]pathlock.Store{two[0].store, two[1].store}, n, func() { before = asked() }); err != nil {
			return err
		}
		sent.Add(round, i, float64(asked()-before)/float64(n))
		return nil
	})
}

// drainLine has n requests wait for one in another store, in two stores by turns, and releases it.
// It calls ready before the release, and returns the time from there to the last grant.
func drainLine(ctx context.Context, tree string, holding pathlock.Store, waiting [2]pathlock.Store, n int, ready ...func()) (time.Duration, error) {
	holder, err := lockIn(holding, tree, "case-1")
	if err != nil {
		return 0, err
	}
	if err := holder.Acquire(ctx); err != nil {
		return 0, err
	}
	line := newWaitingLine(ctx)
	for i := range n {
		if err := line.add(ctx, waiting[i%2], tree); err != nil {
			_ = holder.Release(ctx) // the first error counts
			return 0, err
		}
	}
	for _, f := range ready {
		f()
	}
	start := time.Now()
	err = holder.Release(ctx)
	if failed := line.end(err != nil); err == nil {
		err = failed
	}
	return line.granted[n-1].Sub(start), err
}
