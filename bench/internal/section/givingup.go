package section

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// givingUp measures, in the memory store, how long the first of few or many waiters for one leaf
// takes to give up.
func givingUp(ctx context.Context, env *Env) (_ result, err error) {
	p := env.Plan
	store := memstore.New()
	var names []string
	var lines []*line
	defer func() {
		for _, l := range lines {
			err = errors.Join(err, l.leave())
		}
	}()
	for _, n := range p.Line {
		l, err := newLine(store, n)
		if err != nil {
			return result{}, err
		}
		names, lines = append(names, lineName(n)), append(lines, l)
		if err := l.form(ctx, n); err != nil {
			return result{}, err
		}
	}
	samples := stats.NewSamples(p.Rounds, len(lines))
	err = stats.Turns(ctx, p.Rounds, p.LocalPasses, len(lines), func(round, i int) error {
		took, err := lines[i].firstGivesUp()
		if err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
		samples.Add(round, i, microseconds(took))
		return lines[i].join(ctx)
	})
	if err != nil {
		return result{}, err
	}
	t := report.NewTable("giving-up", "memory store: the first of those who wait for a leaf gives up", "µs", names[0], names, samples.Medians())
	r := result{tables: []report.Table{t}, notes: []string{
		"from the end of its context until its Acquire has returned; another takes the last place in the queue then, which is not timed",
	}}
	for _, n := range p.Line[1:] {
		measured, err := t.Ratio(lineName(n), names[0])
		if err != nil {
			return r, err
		}
		r.targets = append(r.targets, report.Target{
			ID: fmt.Sprintf("giving-up-%d", n), What: fmt.Sprintf("memory store: one of %d waiters gives up, against one of %d", n, p.Line[0]),
			Relation: report.AtMost, Limit: 2, Measured: measured,
		})
	}
	return r, nil
}

func lineName(n int) string { return fmt.Sprintf("%d wait", n) }

// line is a queue for one leaf, in which each waiter can give up alone.
type line struct {
	storeTree
	leaf    pathlock.Claim
	waiting []lineWaiter
}

// lineWaiter is one waiter.
type lineWaiter struct {
	giveUp context.CancelFunc
	ended  chan error
}

// newLine returns an empty queue in a tree of its own.
func newLine(store pathlock.Store, n int) (*line, error) {
	tree, err := pathlock.NewTree("bench", fmt.Sprintf("line-%d", n))
	if err != nil {
		return nil, err
	}
	return &line{storeTree: storeTree{store: store, tree: tree, wait: treeLease}, leaf: pathlock.X(leafAt(waitersDepth, "case-1"))}, nil
}

// form makes one owner hold the leaf, and n others wait for it.
func (l *line) form(ctx context.Context, n int) error {
	if err := l.acquire(ctx, l.ask(l.leaf)); err != nil {
		return err
	}
	for range n {
		if err := l.join(ctx); err != nil {
			return err
		}
	}
	return nil
}

// join adds a waiter, and returns when it waits.
func (l *line) join(ctx context.Context) error {
	ctx, giveUp := context.WithCancel(ctx)
	w := lineWaiter{giveUp, make(chan error, 1)}
	waiting := make(chan struct{})
	a := l.ask(l.leaf)
	a.Wait, a.Waiting = l.wait, func() { close(waiting) }
	go func() { w.ended <- l.acquire(ctx, a) }()
	select {
	case <-waiting:
		l.waiting = append(l.waiting, w)
		return nil
	case err := <-w.ended:
		giveUp()
		return fmt.Errorf("joining the queue: %w", errors.Join(errors.New("no wait"), err))
	}
}

// firstGivesUp ends the wait of the first waiter, and returns how long that took.
func (l *line) firstGivesUp() (time.Duration, error) {
	first := l.waiting[0]
	l.waiting = l.waiting[1:]
	start := time.Now()
	first.giveUp()
	err := <-first.ended
	took := time.Since(start)
	if !errors.Is(err, context.Canceled) {
		return 0, fmt.Errorf("the answer to who gave up: %w", errors.Join(errors.New("not that it was cancelled"), err))
	}
	return took, nil
}

// leave ends all waits, the last waiter's first.
func (l *line) leave() error {
	for len(l.waiting) > 0 {
		last := l.waiting[len(l.waiting)-1]
		l.waiting = l.waiting[:len(l.waiting)-1]
		last.giveUp()
		if err := <-last.ended; !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return nil
}
