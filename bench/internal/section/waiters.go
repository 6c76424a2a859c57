package section

import (
	"context"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/bench/internal/redisserver"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// waitersDepth is the depth of all leaves, both of the contended ones and of the one that nobody
// else wants.
const waitersDepth = 8

// waiters compares the cost of a lock that nobody else wants in trees where none, few and many wait
// for something else.
func waiters(ctx context.Context, env *Env) (result, error) {
	inRedis, script, err := waitersInRedis(ctx, env)
	if err != nil {
		return result{}, err
	}
	inMemory, err := waitersInMemory(ctx, env)
	if err != nil {
		return result{}, err
	}
	r := result{tables: []report.Table{inRedis, script, inMemory}}
	for _, goal := range []struct {
		id, what string
		table    report.Table
	}{
		{"waiters-latency", "latency", inRedis},
		{"waiters-script", "script time", script},
		{"waiters-memory", "memory store", inMemory},
	} {
		for _, n := range env.Plan.WaitElsewhere {
			measured, err := goal.table.Ratio(queueOf(n).name, queueOf(0).name)
			if err != nil {
				return r, err
			}
			r.targets = append(r.targets, report.Target{
				ID:       fmt.Sprintf("%s-%d", goal.id, n),
				What:     fmt.Sprintf("%s where %s in the tree, against nobody", goal.what, queueOf(n).name),
				Relation: report.AtMost, Limit: 1.1, Measured: measured,
			})
		}
	}
	r.notes = []string{
		fmt.Sprintf("depth %d; in each tree others hold as many leaves, in another subtree, as are waited for in any of them", waitersDepth),
		"targets are judged where all wait for one leaf; in the last row each waits for a leaf of its own",
		"script time is what INFO commandstats counts for EVALSHA, per acquisition and release",
	}
	return r, nil
}

// elsewhere is a number of waiters, all for one leaf or each for its own.
type elsewhere struct {
	name    string
	waiters int
	apart   bool
}

func queueOf(n int) elsewhere {
	switch n {
	case 0:
		return elsewhere{"nobody waits", 0, false}
	case 1:
		return elsewhere{"1 waits elsewhere", 1, false}
	default:
		return elsewhere{fmt.Sprintf("%d wait elsewhere", n), n, false}
	}
}

// situations are the compared ones. The last has as many waiters as the largest of the others.
func situations(counts []int) []elsewhere {
	all := []elsewhere{queueOf(0)}
	for _, n := range counts {
		all = append(all, queueOf(n))
	}
	most := counts[len(counts)-1]
	return append(all, elsewhere{fmt.Sprintf("%d wait elsewhere, a leaf each", most), most, true})
}

// busyTree is a tree with waiters, and the measured lock in it.
type busyTree struct {
	storeTree
	held  []pathlock.Acquisition
	queue *queue
	lock  *leafLock
}

// openBusyTree makes others hold leaves, and wait for them.
func openBusyTree(ctx context.Context, store pathlock.Store, s elsewhere, leaves int) (_ *busyTree, err error) {
	tree, err := pathlock.NewTree("bench", s.name)
	if err != nil {
		return nil, err
	}
	t := &busyTree{storeTree: storeTree{store: store, tree: tree, wait: treeLease}}
	t.lock = t.storeTree.lock(leafAt(waitersDepth, "case-1"))
	place := func(i int) pathlock.Claim {
		return pathlock.X(pathlock.MustParsePath(fmt.Sprintf("%s/case-%d", leafAt(waitersDepth-1, "others"), i)))
	}
	for i := range leaves {
		t.held = append(t.held, t.ask(place(i)))
	}
	if err := t.take(ctx, t.held); err != nil {
		return nil, err
	}
	var requests []pathlock.Acquisition
	for i := range s.waiters {
		if !s.apart {
			i = 0
		}
		requests = append(requests, t.ask(place(i)))
	}
	t.queue, err = t.enqueue(ctx, t.release, requests...)
	return t, err
}

// close grants all waiters what they wait for. It fails if one of them has not waited until now.
func (t *busyTree) close(ctx context.Context) error {
	for _, a := range t.held {
		if err := t.release(ctx, a); err != nil {
			_ = t.queue.leave()
			return err
		}
	}
	return t.queue.wait()
}

// busyTrees opens a tree for each situation, measures them, and closes them.
func busyTrees(ctx context.Context, env *Env, store pathlock.Store, measure func(names []string, trees []*busyTree) error) error {
	all := situations(env.Plan.WaitElsewhere)
	var names []string
	var trees []*busyTree
	defer func() {
		for _, t := range trees {
			_ = t.queue.leave() // in vain, unless something has failed
		}
	}()
	for _, s := range all {
		t, err := openBusyTree(ctx, store, s, all[len(all)-1].waiters)
		if err != nil {
			return err
		}
		names, trees = append(names, s.name), append(trees, t)
	}
	if err := measure(names, trees); err != nil {
		return err
	}
	for _, t := range trees {
		if err := t.close(ctx); err != nil {
			return err
		}
	}
	return nil
}

func waitersInRedis(ctx context.Context, env *Env) (latency, script report.Table, err error) {
	store, err := openStore(env, "waiters")
	if err != nil {
		return latency, script, err
	}
	defer closeStore(ctx, store, &err)
	err = busyTrees(ctx, env, store.redis, func(names []string, trees []*busyTree) error {
		p := env.Plan
		times, inScripts := stats.NewSamples(p.Rounds, len(trees)), stats.NewSamples(p.Rounds, len(trees))
		err := stats.Turns(ctx, p.Rounds, p.Passes, len(trees), func(round, i int) error {
			before, err := redisserver.ReadCounters(ctx, env.Admin)
			if err != nil {
				return err
			}
			some, err := timed(ctx, trees[i].lock, p.Batch)
			if err != nil {
				return fmt.Errorf("%s: %w", names[i], err)
			}
			after, err := redisserver.ReadCounters(ctx, env.Admin)
			if err != nil {
				return err
			}
			times.Add(round, i, some...)
			inScripts.Add(round, i, microseconds(after.Minus(before).ScriptTime)/float64(warmUp+p.Batch))
			return nil
		})
		latency = report.NewTable("latency", "acquire+release of a leaf that nobody else wants: latency", "µs", names[0], names, times.Medians())
		script = report.NewTable("script", "acquire+release of a leaf that nobody else wants: script time", "µs", names[0], names, inScripts.Medians())
		return err
	})
	return latency, script, err
}

func waitersInMemory(ctx context.Context, env *Env) (table report.Table, err error) {
	err = busyTrees(ctx, env, memstore.New(), func(names []string, trees []*busyTree) error {
		p := env.Plan
		samples := stats.NewSamples(p.Rounds, len(trees))
		err := stats.Turns(ctx, p.Rounds, p.LocalPasses, len(trees), func(round, i int) error {
			start := time.Now()
			err := repeat(ctx, trees[i].lock, p.LocalBatch)
			samples.Add(round, i, nanosecondsEach(time.Since(start), p.LocalBatch))
			return err
		})
		table = report.NewTable("memory", "the same in the memory store", "ns", names[0], names, samples.Medians())
		return err
	})
	return table, err
}
