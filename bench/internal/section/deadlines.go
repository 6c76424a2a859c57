package section

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/bench/internal/contender"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
	"github.com/pathlock-go/pathlock/internal/delayproxy"
)

const (
	// distance is how long every byte travels to the server, and as long back.
	distance = 4 * time.Millisecond
	// hurried is the number of goroutines, and hurry the time for each of their requests.
	hurried = 40
	hurry   = time.Second
	// slack is how long after its deadline a call still counts as punctual, because goroutines wait
	// for processors.
	slack = hurry / 10
	// besideLease is the lease of the lock held beside them. It ends during a turn unless it is
	// renewed.
	besideLease = 3600 * time.Millisecond
	// settleTimeout is how long releases in the background may take after the last request.
	settleTimeout = 10 * time.Second
)

// deadlines counts the faults of many goroutines with deadlines that share a store some
// milliseconds away.
func deadlines(ctx context.Context, env *Env) (_ result, err error) {
	at := env.server("deadlines")
	near, err := openStoreAt(env, at)
	if err != nil {
		return result{}, err
	}
	defer closeStore(ctx, near, &err)
	p := env.Plan
	names := (&hurriedCounts{}).names()
	samples := stats.NewSamples(p.HurriedRounds, len(names))
	for round := range p.HurriedRounds {
		counts, err := hurriedRound(ctx, env, near, at)
		if err != nil {
			return result{}, fmt.Errorf("round %d: %w", round+1, err)
		}
		for i, n := range counts.values() {
			samples.Add(round, i, float64(n))
		}
	}
	t := report.NewTable("failed", fmt.Sprintf("%d goroutines, a deadline of %v for each request, %v to the server and back, for %v",
		hurried, hurry, 2*distance, p.HurriedTurn), "", "", names, samples.Medians())
	r := result{tables: []report.Table{t}, notes: []string{
		fmt.Sprintf("a request is an acquisition of a leaf that nobody else wants, at depth %d, with its release in the background; "+
			"a lock in another tree, with a lease of %v, is held by the same locker meanwhile", waitersDepth, besideLease),
		fmt.Sprintf("late is what returns more than %v after its deadline; left behind is what is held in Redis when the locker's Shutdown has returned, at most %v after the last request", slack, settleTimeout),
		"how many were granted depends on the machine, and is not judged",
	}}
	for _, row := range t.Rows[1:] {
		r.targets = append(r.targets, report.Target{
			ID: "deadlines-" + hurriedIDs[row.Contender], What: fmt.Sprintf("%d goroutines with deadlines, %v away: %s", hurried, 2*distance, row.Contender),
			Relation: report.AtMost, Limit: 0, Measured: stats.SpreadOf(row.Rounds),
		})
	}
	return r, nil
}

// hurriedCounts are the counts of a round.
type hurriedCounts struct {
	granted, failed, late, unreleased, left, lost, believed atomic.Int64
}

// The names of the counts. Only the first, granted, is not a fault.
const (
	rowGranted    = "requests granted"
	rowFailed     = "requests that failed"
	rowLate       = "requests that ended late"
	rowUnreleased = "releases that failed"
	rowLeft       = "locks left behind in Redis"
	rowLost       = "locks held beside that were lost"
	rowBelieved   = "of these, believed to be held"
)

// hurriedIDs are the ids of the targets.
var hurriedIDs = map[string]string{
	rowFailed: "failed", rowLate: "late", rowUnreleased: "unreleased", rowLeft: "left", rowLost: "lost", rowBelieved: "believed",
}

func (c *hurriedCounts) names() []string {
	return []string{rowGranted, rowFailed, rowLate, rowUnreleased, rowLeft, rowLost, rowBelieved}
}

func (c *hurriedCounts) values() []int64 {
	return []int64{
		c.granted.Load(), c.failed.Load(), c.late.Load(), c.unreleased.Load(), c.left.Load(), c.lost.Load(), c.believed.Load(),
	}
}

// releaseObserver counts releases that fail.
type releaseObserver struct {
	pathlock.NopObserver
	counts *hurriedCounts
}

// Released implements [pathlock.Observer].
func (o releaseObserver) Released(_ context.Context, e pathlock.Event) {
	if e.Err != nil {
		o.counts.unreleased.Add(1)
	}
}

// hurriedRound runs the goroutines for a turn, on a locker and behind a proxy of its own.
func hurriedRound(ctx context.Context, env *Env, near *ownStore, at contender.Server) (_ *hurriedCounts, err error) {
	far, stop, err := distant(ctx, at)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	store, err := openStoreAt(env, far)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.redis.Close(ctx), store.client.Close()) }()

	counts := &hurriedCounts{}
	locker := pathlock.New(store.redis, pathlock.WithLease(treeLease), pathlock.WithObserver(releaseObserver{counts: counts}),
		pathlock.WithLogger(slog.New(slog.DiscardHandler)))
	name := rand.Text()
	load, err := pathlock.NewTree("bench", "load-"+name)
	if err != nil {
		return nil, err
	}
	quiet, err := pathlock.NewTree("bench", "quiet-"+name)
	if err != nil {
		return nil, err
	}
	beside, err := locker.Acquire(ctx, pathlock.Request{
		Tree: quiet, Claims: []pathlock.Claim{pathlock.X(leafAt(waitersDepth, "case-1"))}, Wait: pathlock.NoWait, Lease: besideLease,
	})
	if err != nil {
		return nil, err
	}
	over := time.Now().Add(env.Plan.HurriedTurn)
	var work sync.WaitGroup
	for g := range hurried {
		work.Go(func() {
			for n := 0; time.Now().Before(over) && ctx.Err() == nil; n++ {
				counts.request(ctx, locker, load, fmt.Sprintf("case-%d-%d", g, n))
			}
		})
	}
	work.Wait()
	if err := counts.beside(ctx, near, quiet, beside); err != nil {
		return nil, err
	}
	settle, stopSettling := context.WithTimeout(ctx, settleTimeout)
	_ = locker.Shutdown(settle) // what is left is counted
	stopSettling()
	left, err := near.redis.Snapshot(ctx, load)
	counts.left.Add(int64(len(left.Holders)))
	return counts, errors.Join(err, context.Cause(ctx))
}

// request makes one request under a deadline, and releases what it was granted.
func (c *hurriedCounts) request(ctx context.Context, locker *pathlock.Locker, tree pathlock.Tree, name string) {
	began := time.Now()
	hurried, cancel := context.WithTimeout(ctx, hurry)
	defer cancel()
	lock, err := locker.Acquire(hurried, pathlock.Request{
		Tree: tree, Claims: []pathlock.Claim{pathlock.X(leafAt(waitersDepth, name))}, Wait: pathlock.NoWait,
	})
	if time.Since(began) > hurry+slack {
		c.late.Add(1)
	}
	if err != nil {
		c.failed.Add(1)
		return
	}
	c.granted.Add(1)
	lock.ReleaseInBackground(ctx)
}

// beside counts whether the lock beside is still held, and whether its holder believes so.
func (c *hurriedCounts) beside(ctx context.Context, near *ownStore, tree pathlock.Tree, lock *pathlock.Lock) error {
	believed := lock.Context().Err() == nil
	now, err := near.redis.Snapshot(ctx, tree)
	if err != nil {
		return err
	}
	if len(now.Holders) == 0 || !believed {
		c.lost.Add(1)
		if believed {
			c.believed.Add(1)
		}
	}
	lock.ReleaseInBackground(ctx)
	return nil
}

// distant puts a proxy in front of the server.
func distant(ctx context.Context, at contender.Server) (contender.Server, func() error, error) {
	o, err := redis.ParseURL(at.URL)
	if err != nil {
		return at, nil, err
	}
	proxy, err := delayproxy.Start(ctx, o.Addr, distance)
	if err != nil {
		return at, nil, err
	}
	u, err := url.Parse(at.URL)
	if err != nil {
		return at, nil, errors.Join(err, proxy.Close())
	}
	u.Host = proxy.Addr()
	return contender.Server{URL: u.String(), Prefix: at.Prefix}, proxy.Close, nil
}
