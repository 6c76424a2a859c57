package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/pathlock-go/pathlock"
)

// trees are those of a world, and paths the nodes in each.
var trees = func() (all []pathlock.Tree) {
	for _, id := range []string{"one", "two"} {
		tree, err := pathlock.NewTree("simulation", id)
		if err != nil {
			panic(err)
		}
		all = append(all, tree)
	}
	return all
}()

var paths = []string{"/", "/a", "/a/b", "/a/b/c", "/a/d", "/e"}

// token is a hold that belongs to no process.
type token struct {
	pathlock.Token
	scope  int
	claims []pathlock.Claim
	gate   bool
	until  time.Time
}

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
		c.world.mu.Lock()
		c.calls++
		scope := c.calls
		var t token
		if len(c.attached) > 0 && c.sometimes(50) {
			t, c.attached = c.attached[0], c.attached[1:]
		}
		c.world.mu.Unlock()
		if t.Token != "" {
			c.attach(t)
			continue
		}
		if c.sometimes(30) {
			c.request(scope)
			continue
		}
		c.acquire(context.Background(), scope, trees[c.random.IntN(len(trees))], 0)
	}
}

// acquire asks for something, and works under it if it is granted.
func (c *caller) acquire(parent context.Context, scope int, tree pathlock.Tree, depth int) {
	req := pathlock.Request{Tree: tree, Wait: pathlock.NoWait, Note: fmt.Sprintf("%s/%d/%d", c.name, scope, c.random.Uint32())}
	for range 1 + c.random.IntN(2) {
		mode := pathlock.Modes()[c.random.IntN(5)]
		req.Claims = append(req.Claims, pathlock.Claim{Path: pathlock.MustParsePath(paths[c.random.IntN(len(paths))]), Mode: mode})
	}
	if req.Gate = c.sometimes(5); req.Gate {
		req.Claims = nil
	}
	if c.sometimes(80) {
		req.Wait = c.some(1)
	}
	ctx, cancelled, end := c.cancelling(parent)
	defer end()
	before := c.latest(tree)
	asked := time.Now()
	lock, err := c.locker.Acquire(ctx, req)
	c.judge(ctx, req, asked, cancelled, err)
	c.note("%s %v %v gate %v, wait %v: %v", req.Note, tree, req.Claims, req.Gate, req.Wait, err)
	if err != nil {
		c.finish(req.Note)
		return
	}
	c.work(&hold{name: req.Note, scope: scope, tree: tree, gate: req.Gate, claims: req.Claims, fence: lock.Fence(), until: lock.Until}, lock, before, depth)
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
	for _, known := range []error{nil, pathlock.ErrConflict, pathlock.ErrDeadlock, pathlock.ErrLost, pathlock.ErrUnavailable, ctx.Err()} {
		if errors.Is(err, known) {
			return
		}
	}
	c.failf("%s ended with %v", req.Note, err)
}

// within is how much longer than its wait a call may take. It says who was in the way, if the
// server tells in time.
func (c *caller) within() time.Duration {
	if c.kind == quiet {
		return timeout
	}
	return timeout + grace
}

// work holds a lock for some time.
func (c *caller) work(h *hold, lock *pathlock.Lock, before uint64, depth int) {
	if depth > 0 {
		before = 0 // it may rely on the outer one
	}
	c.began(lock.Context(), h, before)
	if granted := c.fenceTime(h.tree, h.fence); c.kind == quiet && depth == 0 && lock.Waited() && time.Since(granted) > c.prompt {
		c.failf("%s was granted at %v, and learns of it %v later", h.name, granted, time.Since(granted))
	}
	for range c.random.IntN(3) {
		c.rest(lock.Context(), 0.3)
		if depth < 2 && c.sometimes(40) && lock.Context().Err() == nil {
			c.acquire(lock.Context(), h.scope, h.tree, depth+1)
		}
	}
	c.rest(lock.Context(), 0.3)
	if c.dead.Err() != nil {
		c.ended(h)
		return // nobody releases what a crashed process holds
	}
	if depth == 0 && c.sometimes(10) {
		c.ended(h)
		if t, err := lock.Detach(context.Background()); err == nil {
			c.note("%s is detached until %v", h.name, lock.Until())
			c.world.mu.Lock()
			defer c.world.mu.Unlock()
			c.attached = append(c.attached, token{t, h.scope, h.claims, h.gate, lock.Until()})
			return
		}
	}
	c.ended(h)
	err := lock.Release(context.Background())
	c.note("%s is released: %v", h.name, err)
	if err == nil && c.kind == quiet { // whether nothing comes late over a connection that lags is open
		c.finish(h.name)
	}
	if err != nil && c.kind == quiet && depth == 0 {
		c.failf("%s is lost without a fault: %v", h.name, err)
	}
}

// attach goes on with a hold of another instance.
func (c *caller) attach(t token) {
	lock, err := c.locker.Attach(context.Background(), t.Token)
	c.note("%s attaches a hold of %d: %v", c.name, t.scope, err)
	if err != nil {
		return
	}
	c.work(&hold{name: c.name + " attached", scope: t.scope, tree: lock.Tree(), gate: t.gate, claims: t.claims, fence: lock.Fence(), until: lock.Until}, lock, 0, 1)
}
