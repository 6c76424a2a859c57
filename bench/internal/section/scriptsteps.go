package section

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/bench/internal/redisserver"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

const (
	scriptsDepth = 15
	// shallow is the depth of a claim set whose paths are short.
	shallow = 2
)

// How often the steps repeat what they do.
const (
	pairs    = 200
	refusals = 20
	largest  = 5
)

// endingLease is a lease that nobody renews. It is long enough to take a crowd of them before the
// first ends.
const endingLease = 1500 * time.Millisecond

// controlStep is the name of the step that only shows what the machine adds.
const controlStep = "no locks: a script that counts"

// step is an action in a full tree whose scripts are timed.
type step struct {
	name string
	// before and after are not timed. They may be nil.
	before, do, after func(ctx context.Context) error
}

// scriptsOf returns the time of each script of a step in µs.
func (t *fullTree) scriptsOf(ctx context.Context, log *redisserver.Slowlog, s step) ([]float64, error) {
	if s.before != nil {
		if err := s.before(ctx); err != nil {
			return nil, err
		}
	}
	// The work that the store leaves for later belongs to the step that left it.
	if err := redisserver.Quiet(ctx, t.admin); err != nil {
		return nil, err
	}
	if err := log.Clear(ctx); err != nil {
		return nil, err
	}
	if err := s.do(ctx); err != nil {
		return nil, err
	}
	if err := redisserver.Quiet(ctx, t.admin); err != nil {
		return nil, err
	}
	took, err := log.Scripts(ctx, t.at.Prefix)
	if err != nil {
		return nil, err
	}
	if len(took) == 0 {
		return nil, fmt.Errorf("no script took %v or more", redisserver.SlowlogFrom)
	}
	times := make([]float64, len(took))
	for i, d := range took {
		times[i] = microseconds(d)
	}
	if s.after != nil {
		err = s.after(ctx)
	}
	return times, err
}

// steps returns the steps of a round in their order. The whole crowd waits from the step that fills
// the queue to the step that drains it.
func (t *fullTree) steps() []step {
	deep, flat := wideName(scriptsDepth), wideName(shallow)
	return []step{
		{name: "acquire+release of a leaf", do: t.pairs},
		{name: deep + ", acquire+release", do: t.largestSet(scriptsDepth)},
		{name: fmt.Sprintf("%d exclusive waiters queue on one node", t.crowd), do: t.fillQueue},
		{name: "beside them: acquire+release of a leaf", do: t.pairs},
		{name: "beside them: a leaf that is held, refused", do: t.refusedLeaves},
		{name: "beside them: the root, refused", do: t.refusedRoot},
		{name: fmt.Sprintf("beside them: %d leases renewed", t.crowd), do: t.renew},
		{name: "beside them: a snapshot", do: t.snapshot},
		{name: "beside them: " + flat + ", acquire+release", do: t.largestSet(shallow)},
		{name: "beside them: " + deep + ", acquire+release", do: t.largestSet(scriptsDepth)},
		{name: "beside them: " + deep + ", queued and handed over", do: t.largestSetQueued},
		{name: fmt.Sprintf("the %d waiters drained", t.crowd), do: t.drainQueue},
		{name: fmt.Sprintf("handing over to %d readers at once", t.crowd), before: t.queueReaders, do: t.handOver, after: t.releaseReaders},
		{name: fmt.Sprintf("%d leases that ended, reclaimed", t.crowd), before: t.letLeasesEnd, do: t.pair},
		{name: controlStep, do: t.control},
	}
}

// pair acquires and releases a leaf beside the held ones.
func (t *fullTree) pair(ctx context.Context) error {
	a := t.ask(pathlock.X(t.leaf()))
	if err := t.acquire(ctx, a); err != nil {
		return err
	}
	return t.release(ctx, a)
}

func (t *fullTree) pairs(ctx context.Context) error {
	return times(pairs, func() error { return t.pair(ctx) })
}

// fillQueue makes a crowd wait for a leaf. Each waiter releases the leaf as soon as it has it.
func (t *fullTree) fillQueue(ctx context.Context) error {
	t.holder = t.held[len(t.held)/2]
	return t.fill(ctx, t.crowd, t.release, t.holder.Claims...)
}

// drainQueue lets the whole crowd have the leaf, and takes it back.
func (t *fullTree) drainQueue(ctx context.Context) error {
	if err := t.release(ctx, t.holder); err != nil {
		return err
	}
	if err := t.queue.wait(); err != nil {
		return err
	}
	return t.acquire(ctx, t.holder)
}

// refusedLeaves asks for the held leaves, from the first to the last.
func (t *fullTree) refusedLeaves(ctx context.Context) error {
	i := 0
	return times(refusals, func() error {
		a := t.held[i*(len(t.held)-1)/(refusals-1)]
		i++
		return t.refused(ctx, t.ask(a.Claims...))
	})
}

func (t *fullTree) refusedRoot(ctx context.Context) error {
	return times(refusals, func() error { return t.refused(ctx, t.ask(pathlock.X(pathlock.Root()))) })
}

// refused asks for what others hold. The refusal names a holder, for whom a second script looks.
func (t *fullTree) refused(ctx context.Context, a pathlock.Acquisition) error {
	_, err := t.store.Acquire(ctx, a)
	if conflict, ok := errors.AsType[*pathlock.ConflictError](err); ok && !conflict.Blocker.IsZero() {
		return nil
	}
	return fmt.Errorf("the answer to a request for what is held: %w", errors.Join(errors.New("no conflict with somebody known"), err))
}

func (t *fullTree) renew(ctx context.Context) error {
	leases := make([]pathlock.Lease, t.crowd)
	for i := range leases {
		leases[i] = pathlock.Lease{Owner: t.held[i].Owner, For: treeLease}
	}
	lost, err := t.store.Renew(ctx, t.tree, leases)
	if err == nil && len(lost) > 0 {
		err = fmt.Errorf("%d leases are lost", len(lost))
	}
	return err
}

func (t *fullTree) snapshot(ctx context.Context) error {
	s, err := t.store.Snapshot(ctx, t.tree)
	if err == nil && (len(s.Holders) != len(t.held) || len(s.Waiters) != t.crowd) {
		err = fmt.Errorf("it has %d holders and %d waiters, not %d and %d", len(s.Holders), len(s.Waiters), len(t.held), t.crowd)
	}
	return err
}

// wide returns the largest claim set of a request, which has all leaves of one node at a depth, and
// that node.
func wide(depth int) (pathlock.Path, []pathlock.Claim, error) {
	parent := leafAt(depth-1, "wide")
	var leaves []pathlock.Claim
	for i := range redisstore.DefaultMaxClaims - depth { // the nodes above are claimed too
		leaf, err := parent.Child(fmt.Sprintf("case-%06d", i))
		if err != nil {
			return parent, nil, err
		}
		leaves = append(leaves, pathlock.X(leaf))
	}
	return parent, leaves, nil
}

// wideName describes what [wide] returns.
func wideName(depth int) string {
	return fmt.Sprintf("%d claims at depth %d", redisstore.DefaultMaxClaims, depth)
}

// largestSet returns a step that acquires and releases such a set.
func (t *fullTree) largestSet(depth int) func(context.Context) error {
	return func(ctx context.Context) error {
		_, leaves, err := wide(depth)
		if err != nil {
			return err
		}
		return times(largest, func() error {
			a := t.ask(leaves...)
			if err := t.acquire(ctx, a); err != nil {
				return err
			}
			return t.release(ctx, a)
		})
	}
}

// largestSetQueued makes the set wait for the node above it. The crowd still waits.
func (t *fullTree) largestSetQueued(ctx context.Context) error {
	parent, leaves, err := wide(scriptsDepth)
	if err != nil {
		return err
	}
	crowd := t.queue
	defer func() { t.queue = crowd }()
	return times(largest, func() error {
		holder := t.ask(pathlock.X(parent))
		if err := t.acquire(ctx, holder); err != nil {
			return err
		}
		if err := t.fill(ctx, 1, t.release, leaves...); err != nil {
			return err
		}
		if err := t.release(ctx, holder); err != nil {
			return errors.Join(err, t.queue.wait())
		}
		return t.queue.wait()
	})
}

// queueReaders makes a crowd wait for one leaf, which all of them can have at the same time.
func (t *fullTree) queueReaders(ctx context.Context) error {
	leaf := t.leaf()
	t.holder = t.ask(pathlock.X(leaf))
	if err := t.acquire(ctx, t.holder); err != nil {
		return err
	}
	return t.fill(ctx, t.crowd, keep, pathlock.S(leaf))
}

func (t *fullTree) handOver(ctx context.Context) error {
	if err := t.release(ctx, t.holder); err != nil {
		return err
	}
	return t.queue.wait()
}

func (t *fullTree) releaseReaders(ctx context.Context) error {
	for _, a := range t.queue.asked {
		if err := t.release(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// letLeasesEnd takes leaves whose holders then fall silent.
func (t *fullTree) letLeasesEnd(ctx context.Context) error {
	if _, err := t.takeLeaves(ctx, t.crowd, endingLease); err != nil {
		return err
	}
	select {
	case <-time.After(endingLease + 50*time.Millisecond): // the lease began a moment ago
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// control runs a script that always takes the same time, about as long as the longest of the
// others.
func (t *fullTree) control(ctx context.Context) error {
	script := redis.NewScript("local n = 0 for i = 1, 20000 do n = n + i end return 1")
	if err := script.Load(ctx, t.client).Err(); err != nil {
		return fmt.Errorf("loading the script that counts: %w", err)
	}
	return times(pairs, func() error { return script.Run(ctx, t.client, []string{t.at.Prefix + ":control"}).Err() })
}

// times does something n times.
func times(n int, do func() error) error {
	for range n {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}
