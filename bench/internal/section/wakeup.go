package section

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock/bench/internal/contender"
	"github.com/pathlock-go/pathlock/bench/internal/redisserver"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
)

const contendedDepth = 3

// wakeUp measures the time from the beginning of a release to the grant to the waiter, which has
// connections of its own.
func wakeUp(ctx context.Context, env *Env) (_ result, err error) {
	contenders := contender.Only(contender.Redis(), contender.Store, contender.Locker, contender.Rueidislock, contender.Redislock)
	holding, err := openField(ctx, env, "wakeup", contenders)
	if err != nil {
		return result{}, err
	}
	defer closeField(ctx, holding, &err)

	waiting, err := openFieldAt(ctx, env, holding.at, contenders)
	if err != nil {
		return result{}, err
	}
	defer closeField(ctx, waiting, &err)

	pairs := make([]wakePair, len(contenders))
	for i, c := range contenders {
		if pairs[i], err = newWakePair(holding.open[i], waiting.open[i], fmt.Sprintf("tree-%d", i)); err != nil {
			return result{}, fmt.Errorf("%s: %w", c.Name, err)
		}
		pairs[i].polls = c.Name == contender.Redislock
		// Warms up: it subscribes, and loads its scripts.
		if _, err := pairs[i].time(ctx, env.Admin); err != nil {
			return result{}, fmt.Errorf("%s: %w", c.Name, err)
		}
	}

	p := env.Plan
	samples := stats.NewSamples(p.Rounds, len(pairs))
	err = stats.Turns(ctx, p.Rounds, 1, len(pairs), func(round, i int) error {
		n := p.WakeUps
		if pairs[i].polls {
			n = p.PolledWakeUps
		}
		for range n {
			took, err := pairs[i].time(ctx, env.Admin)
			if err != nil {
				return fmt.Errorf("%s: %w", contenders[i].Name, err)
			}
			samples.Add(round, i, microseconds(took))
		}
		return nil
	})
	if err != nil {
		return result{}, err
	}
	t := report.NewTable("one-waiter", "one waiter: from release to grant", "µs", contender.Rueidislock, holding.names(), samples.Medians())
	against, err := t.Ratio(contender.Store, contender.Rueidislock)
	if err != nil {
		return result{}, err
	}
	polling, err := t.Ratio(contender.Redislock, contender.Store)
	if err != nil {
		return result{}, err
	}
	return result{
		tables: []report.Table{t},
		targets: []report.Target{
			{ID: "wakeup-rueidislock", What: "one waiter, release to granted, against rueidislock", Relation: report.AtMost, Limit: 1.0, Measured: against},
			{ID: "wakeup-polling", What: "one waiter: times faster than redislock asking every 100 ms", Relation: report.AtLeast, Limit: 60, Measured: polling},
		},
		notes: []string{
			fmt.Sprintf("depth %d; X on the same leaf", contendedDepth),
			"the release comes when the server has been quiet for some ms, so that the waiter is known to wait; with polling at a random moment of its pause",
		},
	}, nil
}

// wakePair is a holder and a waiter of one node.
type wakePair struct {
	holder contender.Lock
	waiter contender.Waiter
	// polls says that the waiter asks repeatedly.
	polls bool
}

func newWakePair(holding, waiting contender.Locks, tree string) (wakePair, error) {
	leaf := leafAt(contendedDepth, "case-1")
	holder, err := holding.Lock(tree, leaf)
	if err != nil {
		return wakePair{}, err
	}
	lock, err := waiting.Lock(tree, leaf)
	if err != nil {
		return wakePair{}, err
	}
	waiter, ok := lock.(contender.Waiter)
	if !ok {
		return wakePair{}, errors.New("it cannot wait")
	}
	return wakePair{holder: holder, waiter: waiter}, nil
}

// time makes the waiter wait for the holder once.
func (p wakePair) time(ctx context.Context, admin redis.UniversalClient) (time.Duration, error) {
	if err := p.holder.Acquire(ctx); err != nil {
		return 0, fmt.Errorf("acquiring: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type grant struct {
		at  time.Time
		err error
	}
	granted := make(chan grant, 1)
	go func() {
		err := p.waiter.Wait(ctx)
		granted <- grant{time.Now(), err}
	}()
	if err := p.untilWaiting(ctx, admin); err != nil {
		cancel()
		<-granted
		return 0, err
	}
	start := time.Now()
	if err := p.holder.Release(ctx); err != nil {
		cancel()
		<-granted
		return 0, fmt.Errorf("releasing: %w", err)
	}
	g := <-granted
	if g.err != nil {
		return 0, fmt.Errorf("waiting: %w", g.err)
	}
	if err := p.waiter.Release(ctx); err != nil {
		return 0, fmt.Errorf("releasing after the wait: %w", err)
	}
	return g.at.Sub(start), nil
}

// untilWaiting returns when the waiter certainly waits.
func (p wakePair) untilWaiting(ctx context.Context, admin redis.UniversalClient) error {
	if !p.polls {
		return redisserver.Quiet(ctx, admin)
	}
	// It sleeps one pause, in which the waiter asks once, and a random part of the next.
	select {
	case <-time.After(100*time.Millisecond + rand.N(100*time.Millisecond)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
