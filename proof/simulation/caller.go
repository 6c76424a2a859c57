package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/pathlock-go/pathlock"
)

// trees are those of a world. In the last one, every call has OwnScope.
var trees = func() (all []pathlock.Tree) {
	for _, id := range []string{"one", "two", "own"} {
		tree, err := pathlock.NewTree("simulation", id)
		if err != nil {
			panic(err)
		}
		all = append(all, tree)
	}
	return all
}()

var ownTree = trees[2]

// paths are the nodes in each tree.
var paths = []string{"/", "/a", "/a/b", "/a/b/c", "/a/d", "/e"}

// caller is one user of an instance, who asks for one thing after the other.
type caller struct {
	*instance
	name   string
	random *rand.Rand
}

func (c *caller) sometimes(percent int) bool { return c.random.IntN(100) < percent }

// some returns a time of about so many leases.
func (c *caller) some(leases float64) time.Duration {
	return time.Duration(c.random.ExpFloat64()*leases*float64(c.lease)) + time.Duration(c.random.IntN(1e6))
}

// rest sleeps for some time, unless the instance dies or ctx ends.
func (c *caller) rest(ctx context.Context, leases float64) {
	timer := time.NewTimer(c.some(leases))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		time.Sleep(time.Duration(c.random.IntN(1e6))) // others learn of it at the same moment
	case <-c.dead.Done():
	}
}

func (c *caller) run() {
	for n := 0; ; n++ {
		select {
		case <-c.stopped:
			return
		case <-c.dead.Done():
			return
		default:
		}
		c.rest(context.Background(), 0.5)
		switch t := c.someToken(); {
		case t != nil && c.sometimes(60):
			c.bear(t)
		case c.sometimes(30):
			c.request(c.newID())
		case c.sometimes(3):
			c.force()
		default:
			c.acquire(context.Background(), nil, trees[c.random.IntN(len(trees))], 0)
		}
	}
}

// claims returns some claims.
func (c *caller) claims() (all []pathlock.Claim) {
	for range 1 + c.random.IntN(2) {
		mode := pathlock.Modes()[c.random.IntN(5)]
		all = append(all, pathlock.Claim{Path: pathlock.MustParsePath(paths[c.random.IntN(len(paths))]), Mode: mode})
	}
	return all
}

func (c *caller) nameIn(scope int) string {
	return fmt.Sprintf("%s/%d/%d", c.name, scope, c.random.Uint32())
}

// acquire asks for something, and works under it if it is granted.
func (c *caller) acquire(parent context.Context, s *session, tree pathlock.Tree, depth int) {
	req := pathlock.Request{Tree: tree, Wait: pathlock.NoWait, Claims: c.claims(), OwnScope: tree == ownTree}
	s = c.enter(s, tree)
	s.use(1)
	defer s.use(-1)
	scope := s.in(tree)
	swaps, swapping, _ := s.exchanges()
	req.Note = c.nameIn(scope)
	if s.isPart(tree) {
		req.Note = partMark + req.Note
	}
	if req.Gate = c.sometimes(5); req.Gate {
		req.Claims, s.root().gated = nil, true
	}
	if c.sometimes(80) {
		req.Wait = c.some(1)
	}
	if _, limited := parent.Deadline(); !limited && c.sometimes(20) { // two would end at one moment
		req.MaxHold = c.some(0.3)
	}
	if c.sometimes(30) {
		req.Lease = c.lease / time.Duration(1+c.random.IntN(3))
	}
	req.Asserted = c.degrades && c.sometimes(70)
	ctx, cancelled, end := c.cancelling(parent)
	defer end()
	before := c.latest(tree)
	asked := time.Now()
	lock, err := c.locker.Acquire(ctx, req)
	c.note("%s %v %v gate %v, wait %v, hold %v: %v", req.Note, tree, req.Claims, req.Gate, req.Wait, req.MaxHold, err)
	if c.dead.Err() != nil {
		return
	}
	c.judge(ctx, req, asked, cancelled, err)
	if err != nil {
		if errors.Is(err, pathlock.ErrLost) && ctx.Err() == nil && !s.mayLose(tree) {
			c.failf("%s is lost without a fault: %v", req.Note, err)
		}
		if !c.small || c.kind == quiet { // its withdrawal may be lost, and its scope renew the lease
			c.finish(req.Note)
		}
		return
	}
	if depth > 0 {
		before = 0 // it may rely on the outer one
	}
	h := &hold{name: req.Note, scope: scope, tree: tree, gate: req.Gate, claims: req.Claims, fence: lock.Fence(), until: lock.Until, degraded: lock.Degraded()}
	if h.degraded != (h.fence == 0) || h.degraded && !req.Asserted {
		c.failf("%s is degraded: %v, asserted: %v, with fence %d", h.name, h.degraded, req.Asserted, h.fence)
	}
	swapped, _, last := s.exchanges()
	if h.since = last; swapping == 0 && swapped == swaps {
		c.began(lock.Context(), h, before)
		if granted := c.fenceTime(tree, h.fence); c.kind == quiet && depth == 0 && lock.Waited() && time.Since(granted) > c.prompt {
			c.failf("%s was granted at %v, and learns of it %v later", h.name, granted, time.Since(granted))
		}
	} else { // an exchange has come between
		h.ctx, h.ended = lock.Context(), time.Now()
	}
	(&work{caller: c, session: s, hold: h, lock: lock, parent: ctx, depth: depth, maxHold: req.MaxHold, got: time.Now()}).run()
}

// cancelling returns a context that is sometimes cancelled, and after how long. end frees it.
func (c *caller) cancelling(parent context.Context) (ctx context.Context, cancelled time.Duration, end func()) {
	ctx, cancel := context.WithCancel(parent)
	if !c.sometimes(20) {
		return ctx, 1 << 62, cancel
	}
	cancelled = c.some(0.5)
	stop := time.AfterFunc(cancelled, cancel)
	return ctx, cancelled, func() {
		stop.Stop()
		cancel()
	}
}

// judge judges when and how a call has ended.
func (c *caller) judge(ctx context.Context, req pathlock.Request, asked time.Time, cancelled time.Duration, err error) {
	most := max(req.Wait, 0) + c.within()
	if took := time.Since(asked); took > min(most, cancelled+timeout+grace)+time.Millisecond {
		c.failf("%s was to wait %v, was cancelled after %v, and took %v: %v", req.Note, req.Wait, cancelled, took, err)
	}
	for _, known := range []error{nil, pathlock.ErrConflict, pathlock.ErrDeadlock, pathlock.ErrLost, pathlock.ErrUnavailable, pathlock.ErrInvalidRequest, ctx.Err()} {
		if errors.Is(err, known) {
			return
		}
	}
	c.failf("%s ended with %v", req.Note, err)
}

// within is how much longer than its wait a call may take. It says who was in the way, if the
// server answers in time.
func (c *caller) within() time.Duration {
	if c.kind == quiet {
		return timeout
	}
	return timeout + grace
}
