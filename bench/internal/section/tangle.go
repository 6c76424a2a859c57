package section

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
)

// searches is the number of requests of a kind in a turn.
const searches = 5

// A restless waiter has a short lease, within which it asks again three times, and waits for a
// while.
const (
	restlessLease = 300 * time.Millisecond
	restlessWait  = time.Second
)

// tangle is a tree with many owners that hold something and wait for each other without a cycle.
type tangle struct {
	storeTree
	name  string
	queue *queue
	// closing would close a cycle through all of them.
	closing pathlock.Acquisition
	// further is a request of an owner that holds something else. It has to wait for all of them.
	further pathlock.Acquisition
}

// shape is a way in which owners wait for each other.
type shape struct {
	id, name string
	tie      func(ctx context.Context, t *tangle, n int) error
}

func (s shape) nameOf(n int) string { return fmt.Sprintf("%s of %d", s.name, n) }

var shapes = []shape{{"chain", "a chain", tieChain}, {"crowds", "two crowds", tieCrowds}}

// openTangles opens each shape in each size. The caller must leave those that it returns, even
// after an error.
func openTangles(ctx context.Context, env *Env, store *ownStore) ([]*tangle, error) {
	var tangles []*tangle
	for _, s := range shapes {
		for _, n := range env.Plan.Tangled {
			tree, err := pathlock.NewTree("bench", s.nameOf(n))
			if err != nil {
				return tangles, err
			}
			t := &tangle{storeTree: storeTree{store: store.redis, tree: tree, wait: treeLease}, name: s.nameOf(n)}
			tangles = append(tangles, t)
			if err := s.tie(ctx, t, n); err != nil {
				return tangles, fmt.Errorf("%s: %w", t.name, err)
			}
		}
	}
	return tangles, nil
}

// at returns a claim on a node of the tangle's tree.
func at(claim func(pathlock.Path) pathlock.Claim, names string, args ...any) pathlock.Claim {
	return claim(pathlock.MustParsePath(fmt.Sprintf(names, args...)))
}

// tieChain makes each owner hold a leaf and wait for the next owner's leaf.
func tieChain(ctx context.Context, t *tangle, n int) error {
	leaf := func(i int) pathlock.Claim { return at(pathlock.X, "/chain/case-%d", i) }
	held := make([]pathlock.Acquisition, n)
	for i := range held {
		held[i] = t.ask(leaf(i))
	}
	waiting := make([]pathlock.Acquisition, n-1)
	for i := range waiting {
		waiting[i] = t.also(held[i], leaf(i+1))
	}
	t.closing = t.also(held[n-1], leaf(0))
	return t.settle(ctx, held, waiting, at(pathlock.X, "/chain"))
}

// tieCrowds makes one half of the owners read a node and wait for somebody's leaf. The other half
// hold a leaf each and wait to write that node.
func tieCrowds(ctx context.Context, t *tangle, n int) error {
	somebody := t.ask(at(pathlock.X, "/wanted"))
	held := []pathlock.Acquisition{somebody}
	var waiting []pathlock.Acquisition
	for i := range n {
		holds, wants := at(pathlock.S, "/read"), at(pathlock.X, "/wanted")
		if i%2 == 1 {
			holds, wants = at(pathlock.X, "/crowd/case-%d", i), at(pathlock.X, "/read")
		}
		owner := t.ask(holds)
		held, waiting = append(held, owner), append(waiting, t.also(owner, wants))
	}
	t.closing = t.also(somebody, at(pathlock.X, "/crowd"))
	return t.settle(ctx, held, waiting, at(pathlock.X, "/crowd"))
}

// settle makes all owners take what they hold, and wait. wanted is what one more owner, which holds
// something else, has to wait for.
func (t *tangle) settle(ctx context.Context, held, waiting []pathlock.Acquisition, wanted pathlock.Claim) error {
	more := t.ask(at(pathlock.X, "/else"))
	t.further = t.also(more, wanted)
	if err := t.take(ctx, append(held, more)); err != nil {
		return err
	}
	var err error
	t.queue, err = t.enqueue(ctx, keep, waiting...)
	return err
}

// leave ends all waits.
func (t *tangle) leave() error {
	if t.queue == nil {
		return nil
	}
	return t.queue.leave()
}

// closeCycle makes requests that would close a cycle, and returns their times.
func (t *tangle) closeCycle(ctx context.Context) ([]time.Duration, error) {
	return t.repeated(func(n int) error {
		a := again(t.closing, n)
		a.Wait = t.wait
		if _, err := t.store.Acquire(ctx, a); !errors.Is(err, pathlock.ErrDeadlock) {
			return fmt.Errorf("the answer to a request that closes a cycle: %w", errors.Join(errors.New("no deadlock"), err))
		}
		return nil
	})
}

// joinAndLeave makes one more request queue, and give up as soon as it waits.
func (t *tangle) joinAndLeave(ctx context.Context) ([]time.Duration, error) {
	return t.repeated(func(n int) error {
		ctx, giveUp := context.WithCancel(ctx)
		defer giveUp()
		a := again(t.further, n)
		a.Wait, a.Waiting = t.wait, giveUp
		if _, err := t.store.Acquire(ctx, a); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("the answer to who gave up: %w", errors.Join(errors.New("not that it was cancelled"), err))
		}
		return nil
	})
}

// askAgain makes one more request wait under a short lease, so that it asks repeatedly until its
// time is up.
func (t *tangle) askAgain(ctx context.Context) ([]time.Duration, error) {
	a := again(t.further, searches)
	a.Lease, a.Wait = restlessLease, restlessWait
	if _, err := t.store.Acquire(ctx, a); !errors.Is(err, pathlock.ErrConflict) {
		return nil, fmt.Errorf("the answer to who waited in vain: %w", errors.Join(errors.New("no conflict"), err))
	}
	return nil, nil
}

// again returns a copy of a that is a new request to the store.
func again(a pathlock.Acquisition, n int) pathlock.Acquisition {
	a.Grant += pathlock.GrantID(fmt.Sprintf("-%d-%d", n, time.Now().UnixNano()))
	return a
}

// repeated makes requests of one kind, and returns their times.
func (t *tangle) repeated(request func(n int) error) ([]time.Duration, error) {
	took := make([]time.Duration, searches)
	for n := range took {
		start := time.Now()
		if err := request(n); err != nil {
			return nil, err
		}
		took[n] = time.Since(start)
	}
	return took, nil
}
