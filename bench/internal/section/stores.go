package section

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
)

const (
	// rivalDepth is the depth of the leaves that are locked.
	rivalDepth = 3
	// rivalLease is a locker's default.
	rivalLease = 30 * time.Second
	// rivalOthers is how many locks others hold where the tree is not empty.
	rivalOthers = 100
	// rivalGoroutines is how many goroutines share a store.
	rivalGoroutines = 8
)

// stores compares all lock stores.
func stores(ctx context.Context, env *Env) (r result, err error) {
	all, missing, err := rivals(ctx, env)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, stopRivals(ctx, all)) }()
	c := &comparison{rivals: all, plan: env.Plan}
	defer func() { err = errors.Join(err, c.close(context.WithoutCancel(ctx))) }()
	if err := c.open(ctx); err != nil {
		return r, err
	}
	if err := c.warmUp(ctx); err != nil {
		return r, err
	}
	for _, measure := range []func(context.Context) ([]report.Table, error){
		c.alone, c.among, c.trips, c.requests, c.wakeOne, c.queues, c.oneTree, c.ownTrees,
	} {
		tables, err := measure(ctx)
		if err != nil {
			return r, err
		}
		r.tables = append(r.tables, tables...)
	}
	r.targets = herds(r.tables, env.Plan.QueuedIn)
	r.notes = append([]string{
		fmt.Sprintf("depth %d: X on the leaf, IX above; leases of %v; every store is driven as a locker drives it", rivalDepth, rivalLease),
		"no server waits for its disk at a commit (but an existing one may), so a real one adds that; SQLite's file is in the folder for temporary files, in WAL mode with synchronous=NORMAL",
		"one of each server: a cluster of ZooKeeper or etcd adds its members' agreement",
		"round trips: the time that a call takes where the server is far away, divided by the time there and back; requests: those that clients send, counted by a proxy; SQLite: statements",
		"one waiter has waited for a fifth of a second or so when the release comes; waiters in a queue are in two further stores by turns, so each hand-over is between processes, except in memory",
	}, missing...)
	return r, nil
}

// herds judges whether a hand-over asks for more where more wait.
func herds(tables []report.Table, queued [2]int) (targets []report.Target) {
	few, many := tableOf(tables, perWaiterID(queued[0])), tableOf(tables, perWaiterID(queued[1]))
	for i, row := range few.Rows {
		if row.Value == 0 { // it asks nobody
			continue
		}
		targets = append(targets, report.Target{
			ID: "herd-" + identifier(row.Contender), Relation: report.AtMost, Limit: 1.5,
			What:     fmt.Sprintf("%s: requests for each of %d waiters in a queue, against %d", row.Contender, queued[1], queued[0]),
			Measured: stats.SpreadOf(stats.Ratios(many.Rows[i].Rounds, row.Rounds)),
		})
	}
	return targets
}

// tableOf returns one of several tables.
func tableOf(tables []report.Table, id string) report.Table {
	return tables[slices.IndexFunc(tables, func(t report.Table) bool { return t.ID == id })]
}

// comparison measures rivals.
type comparison struct {
	rivals []rival
	plan   Plan
	// open stores, by rival: each is a process's.
	here, there, elsewhere []instance
	closing                []func(context.Context) error
}

// open opens the stores that are timed.
func (c *comparison) open(ctx context.Context) error {
	for _, r := range c.rivals {
		for _, place := range []*[]instance{&c.here, &c.there, &c.elsewhere} {
			opened, err := r.open(ctx, r.addrs)
			if err != nil {
				return fmt.Errorf("opening %s: %w", r.name, err)
			}
			*place = append(*place, opened)
			c.closing = append(c.closing, opened.close)
		}
	}
	return nil
}

// warmUp uses all stores for a while: ZooKeeper, in Java, takes more than twice as long for its
// first thousand requests.
func (c *comparison) warmUp(ctx context.Context) error {
	for i, r := range c.rivals {
		lock, err := lockIn(c.here[i].store, "warm-up", "case-1")
		if err != nil {
			return err
		}
		if err := repeat(ctx, lock, c.plan.RivalWarmUp); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}

func (c *comparison) close(ctx context.Context) error {
	var errs []error
	for _, f := range c.closing {
		errs = append(errs, f(ctx))
	}
	return errors.Join(errs...)
}

// names are the rivals' names, in order.
func (c *comparison) names() []string {
	names := make([]string, len(c.rivals))
	for i, r := range c.rivals {
		names[i] = r.name
	}
	return names
}

// table makes a table with Redis as the baseline.
func (c *comparison) table(id, title, unit string, s *stats.Samples) report.Table {
	return report.NewTable(id, title, unit, rivalRedis, c.names(), s.Medians())
}

// turns gives each rival its turns, and says whose failed.
func (c *comparison) turns(ctx context.Context, passes int, turn func(round, i int) error) error {
	return stats.Turns(ctx, c.plan.Rounds, passes, len(c.rivals), func(round, i int) error {
		if err := turn(round, i); err != nil {
			return fmt.Errorf("%s: %w", c.rivals[i].name, err)
		}
		return nil
	})
}

// in returns a tree of a store.
func in(store pathlock.Store, name string) (*storeTree, error) {
	tree, err := pathlock.NewTree("bench", name)
	return &storeTree{store: store, tree: tree, wait: time.Minute}, err
}

// lockIn returns the lock of one leaf in a tree of a store.
func lockIn(store pathlock.Store, tree, leaf string) (*leafLock, error) {
	t, err := in(store, tree)
	if err != nil {
		return nil, err
	}
	lock := t.lock(leafAt(rivalDepth, leaf))
	lock.request.Lease = rivalLease
	return lock, nil
}

// occupy has others hold leaves in a tree.
func occupy(ctx context.Context, store pathlock.Store, tree string, n int) error {
	t, err := in(store, tree)
	if err != nil {
		return err
	}
	for i := range n {
		if err := t.acquire(ctx, t.ask(pathlock.X(leafAt(rivalDepth, fmt.Sprintf("other-%d", i))))); err != nil {
			return err
		}
	}
	return nil
}
