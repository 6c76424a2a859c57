package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

// claims is a claim set as a caller writes it.
type claims = []pathlock.Claim

// actor is an owner in a tree. Its name is the note of its requests.
type actor struct {
	*fixture
	tree  pathlock.Tree
	owner pathlock.Owner
	name  string
}

// actor returns a new owner in the test's tree.
func (f *fixture) actor(name string) *actor { return f.actorIn(f.tree, name) }

// actorIn returns a new owner in any tree.
func (f *fixture) actorIn(tree pathlock.Tree, name string) *actor {
	return &actor{fixture: f, tree: tree, owner: pathlock.Owner(rand.Text()), name: name}
}

// ask returns a request for claims that does not wait.
func (a *actor) ask(claims ...pathlock.Claim) pathlock.Acquisition {
	return pathlock.Acquisition{
		Tree:   a.tree,
		Owner:  a.owner,
		Grant:  pathlock.GrantID(rand.Text()[:16]),
		Claims: pathlock.Normalize(claims...),
		Lease:  long,
		Note:   a.name,
		Origin: pathlock.Origin{Operation: "test", Instance: a.name},
	}
}

// askGate returns a request for the tree's gate that does not wait.
func (a *actor) askGate() pathlock.Acquisition {
	req := a.ask()
	req.Gate = true
	req.Claims = nil
	return req
}

// grant is one that an actor has. It is released at the end of the test at the latest.
type grant struct {
	*actor
	id    pathlock.GrantID
	fence uint64
	asked time.Time // see [pathlock.Grant]
}

// hold makes a grant known to the test.
func (a *actor) hold(id pathlock.GrantID, g pathlock.Grant) *grant {
	h := &grant{actor: a, id: id, fence: g.Fence, asked: g.Asked}
	if !a.mortal {
		a.Cleanup(func() {
			if err := h.tryRelease(); err != nil && !errors.Is(err, pathlock.ErrNotHeld) {
				a.Errorf("%s releases in the end: %v", a.name, err)
			}
		})
	}
	return h
}

// take requires that a request is granted at once.
func (a *actor) take(req pathlock.Acquisition) *grant {
	a.Helper()
	req.Waiting = func() { a.Errorf("%s is told to wait for %v, which is granted at once", a.name, req.Claims) }
	g, err := a.store.Acquire(a.ctx, req)
	if err != nil {
		a.Fatalf("%s asks for %v: %v, want a grant", a.name, req.Claims, err)
	}
	return a.hold(req.Grant, g)
}

// takes requires that claims are granted at once.
func (a *actor) takes(claims ...pathlock.Claim) *grant {
	a.Helper()
	return a.take(a.ask(claims...))
}

// mostUnnamed is how often in a row a conflict may name nobody: a store that has no time left to
// find out who is in the way says only that somebody is.
const mostUnnamed = 5

// refuse requires that a request which does not wait is refused with a conflict.
func (a *actor) refuse(req pathlock.Acquisition) pathlock.ConflictError {
	a.Helper()
	req.Waiting = func() { a.Errorf("%s is told to wait for %v, and must not", a.name, req.Claims) }
	for tries := 1; ; tries++ {
		g, err := a.store.Acquire(a.ctx, req)
		if err == nil {
			a.hold(req.Grant, g)
			a.Fatalf("%s asks for %v: granted, want a refusal", a.name, req.Claims)
		}
		c := a.conflict(err)
		if errors.Is(err, context.DeadlineExceeded) || c.Waited >= long {
			a.Errorf("%s is refused with %v after %v, and no context ended", a.name, err, c.Waited)
		}
		if !c.Blocker.IsZero() || tries == mostUnnamed {
			return c
		}
	}
}

// isRefused requires that claims are refused to a request that does not wait.
func (a *actor) isRefused(claims ...pathlock.Claim) pathlock.ConflictError {
	a.Helper()
	return a.refuse(a.ask(claims...))
}

// conflict requires that err is a complete conflict.
func (a *actor) conflict(err error) pathlock.ConflictError {
	a.Helper()
	a.requireIs(err, pathlock.ErrConflict)
	var c *pathlock.ConflictError
	if !errors.As(err, &c) {
		a.Fatalf("error is %v (%T), want a *ConflictError", err, err)
	}
	if c.Tree != a.tree {
		a.Errorf("the conflict is in %v, want %v", c.Tree, a.tree)
	}
	return *c
}

// tryRelease gives the grant back.
func (h *grant) tryRelease() error { return h.store.Release(h.ctx, h.tree, h.owner, h.id) }

// release requires that giving the grant back works.
func (h *grant) release() {
	h.Helper()
	if err := h.tryRelease(); err != nil {
		h.Fatalf("%s releases: %v", h.name, err)
	}
}

// renew asks for a lease of d from now, and reports whether the lease was lost.
func (a *actor) renew(d time.Duration) (lost bool) {
	a.Helper()
	return a.loses(pathlock.Lease{For: d})
}

// loses renews a lease of the actor's, and reports whether it was lost.
func (a *actor) loses(lease pathlock.Lease) bool {
	a.Helper()
	lease.Owner = a.owner
	lost, err := a.store.Renew(a.ctx, a.tree, []pathlock.Lease{lease})
	if err != nil {
		a.Fatalf("%s renews: %v", a.name, err)
	}
	return slices.Contains(lost, a.owner)
}

// pending is a request that waits.
type pending struct {
	*actor
	id     pathlock.GrantID
	cancel context.CancelFunc
	done   chan struct{} // closed when the request is over
	grant  pathlock.Grant
	err    error
	ended  time.Time
}

// queue requires that a request begins to wait.
func (a *actor) queue(ctx context.Context, req pathlock.Acquisition) *pending {
	a.Helper()
	if req.Wait == 0 {
		req.Wait = long
	}
	waiting := make(chan struct{})
	req.Waiting = func() { close(waiting) } // a second call panics
	p := a.start(ctx, req)
	select {
	case <-waiting:
	case <-p.done:
		a.Fatalf("%s asks for %v: fence %d, error %v, want it to wait", a.name, req.Claims, p.grant.Fence, p.err)
	case <-time.After(patience):
		a.Fatalf("%s asks for %v: it is not queued", a.name, req.Claims)
	}
	return p
}

// queuesFor requires that a request for claims begins to wait.
func (a *actor) queuesFor(claims ...pathlock.Claim) *pending {
	a.Helper()
	return a.queue(a.ctx, a.ask(claims...))
}

// start makes a request in the background.
func (a *actor) start(ctx context.Context, req pathlock.Acquisition) *pending {
	ctx, cancel := context.WithCancel(ctx)
	p := &pending{actor: a, id: req.Grant, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.grant, p.err = a.store.Acquire(ctx, req)
		p.ended = time.Now()
	}()
	a.Cleanup(func() {
		cancel()
		if p.over(); p.err == nil {
			a.hold(p.id, p.grant)
		}
	})
	return p
}

// over returns when the request is over.
func (p *pending) over() {
	p.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		p.Fatalf("%s still waits", p.name)
	}
}

// isGranted requires that the request is granted.
func (p *pending) isGranted() *grant {
	p.Helper()
	p.over()
	if p.err != nil {
		p.Fatalf("%s waited: %v, want a grant", p.name, p.err)
	}
	return p.hold(p.id, p.grant)
}

// fails requires that the request ends with an error, and returns it.
func (p *pending) fails() error {
	p.Helper()
	p.over()
	if p.err == nil {
		p.hold(p.id, p.grant)
		p.Fatalf("%s waited: granted, want an error", p.name)
	}
	return p.err
}

// isCancelled cancels the request, and requires that this ends it.
func (p *pending) isCancelled() {
	p.Helper()
	p.cancel()
	p.requireIs(p.fails(), context.Canceled)
}

// stillWaits requires that the request has its place in the queue.
func (p *pending) stillWaits() {
	p.Helper()
	for _, w := range p.snapshot(p.tree).Waiters {
		if w.Owner == p.owner {
			return
		}
	}
	p.Fatalf("%s is not in the queue any more", p.name)
}

// deadlock requires that a request, which is made to wait, gets a deadlock at once.
func (a *actor) deadlock(req pathlock.Acquisition) pathlock.DeadlockError {
	a.Helper()
	req.Wait = long
	p := a.start(a.ctx, req)
	err := p.fails()
	a.requireIs(err, pathlock.ErrDeadlock)
	var d *pathlock.DeadlockError
	if !errors.As(err, &d) {
		a.Fatalf("error is %v (%T), want a *DeadlockError", err, err)
	}
	return *d
}
