package storetest

import (
	"errors"

	"github.com/pathlock-go/pathlock"
)

func deadlock() topic {
	return topic{"deadlock", []promise{
		{"scenario 6: of two owners who upgrade S to X, one is told so at once and the other is granted", func(f *fixture) {
			a, b := f.actor("first"), f.actor("second")
			a.takes(s("/a"))
			second := b.takes(s("/a"))
			upgrade := a.queuesFor(x("/a"))
			d := b.deadlocks(x("/a"))
			if d.Tree != f.tree || d.Path.String() != "/a" || d.Mode != pathlock.ModeX || d.Blocker.Owner != a.owner {
				f.Errorf("deadlock %+v, want X /a in the way of the first", d)
			}
			upgrade.stillWaits()
			second.release()
			upgrade.isGranted()
		}},
		{"two owners who hold a node each and ask for the other's", func(f *fixture) {
			a, b := f.actor("first"), f.actor("second")
			a.takes(x("/a"))
			second := b.takes(x("/b"))
			p := a.queuesFor(x("/b"))
			b.deadlocks(x("/a"))
			second.release()
			p.isGranted()
		}},
		{"a cycle of four owners", func(f *fixture) {
			nodes := []string{"/a", "/b", "/c", "/d"}
			var owners []*actor
			var grants []*held
			for _, node := range nodes {
				owner := f.actor("owner of " + node)
				owners = append(owners, owner)
				grants = append(grants, owner.takes(x(node)))
			}
			var waits []*pending
			for i, owner := range owners[:3] {
				waits = append(waits, owner.queuesFor(x(nodes[i+1])))
			}
			owners[3].deadlocks(x("/a"))
			grants[3].release()
			for i := 2; i >= 0; i-- {
				waits[i].isGranted().release()
				grants[i].release()
			}
		}},
		{"a cycle through a shared hold", func(f *fixture) {
			a, b, c := f.actor("first reader"), f.actor("second reader"), f.actor("writer")
			a.takes(s("/a"))
			shared := b.takes(s("/a"))
			own := c.takes(x("/c"))
			p := c.queuesFor(x("/a"))
			b.deadlocks(x("/c"))
			a.deadlocks(x("/c"))
			p.isCancelled()
			own.release()
			shared.release()
			a.takes(x("/a"))
		}},
		{"a cycle through an ancestor", func(f *fixture) {
			a, b := f.actor("first"), f.actor("second")
			a.takes(x("/a/1"))
			second := b.takes(x("/b/1"))
			p := a.queuesFor(x("/b"))
			b.deadlocks(s("/a"))
			second.release()
			p.isGranted()
		}},
		{"a cycle through an earlier waiter", func(f *fixture) {
			a, b := f.actor("first"), f.actor("second")
			a.takes(x("/a"))
			second := b.takes(x("/b"))
			waiter := f.actor("waiter").queuesFor(x("/a"), x("/m"))
			p := b.queuesFor(x("/m"))
			// The second is behind the waiter, who waits for the first.
			if d := a.deadlocks(x("/b")); d.Blocker.Owner != b.owner {
				f.Errorf("deadlock %+v, want the second in the way", d)
			}
			p.isCancelled()
			waiter.isCancelled()
			second.release()
		}},
		{"one who passes a waiter does not wait for those whom that one waits for", func(f *fixture) {
			a, b := f.actor("first"), f.actor("second")
			a.takes(x("/a"))
			second := b.takes(x("/b"))
			other := f.actor("other").takes(x("/z"))
			f.actor("waiter").queuesFor(x("/a"), x("/b"), x("/m"))
			// The waiter waits for both owners; the second passes it, and waits for the other
			// alone.
			p := b.queuesFor(x("/m"), x("/z"))
			q := a.queuesFor(x("/b"))
			other.release()
			p.isGranted().release()
			second.release()
			q.isGranted()
		}},
		{"a cycle through the gate", func(f *fixture) {
			a, b := f.actor("first"), f.actor("second")
			a.takes(x("/a"))
			second := b.takes(x("/b"))
			p := a.queue(f.ctx, a.askGate())
			b.deadlocks(x("/a"))
			second.release()
			p.isGranted()
		}},
		{"an upgrade that waits for a holder who does not wait is no deadlock", func(f *fixture) {
			a := f.actor("first")
			a.takes(s("/a"))
			reader := f.actor("second").takes(s("/a"))
			p := a.queuesFor(x("/a"))
			reader.release()
			p.isGranted()
		}},
		{"a chain of waiting holders that does not close is no deadlock", func(f *fixture) {
			a, b, c := f.actor("a"), f.actor("b"), f.actor("c")
			holdA, holdB, holdC := a.takes(x("/a")), b.takes(x("/b")), c.takes(x("/c"))
			second := b.queuesFor(x("/c"))
			first := a.queuesFor(x("/b"))
			holdC.release()
			second.isGranted().release()
			holdB.release()
			first.isGranted().release()
			holdA.release()
		}},
		{"a newcomer who waits for a waiting holder is no deadlock", func(f *fixture) {
			a, b := f.actor("a"), f.actor("b")
			a.takes(s("/a"))
			reader := b.takes(s("/a"))
			upgrade := a.queuesFor(x("/a"))
			newcomer := f.actor("newcomer").queuesFor(x("/a"), x("/b"))
			reader.release()
			upgrade.isGranted().release()
			newcomer.stillWaits()
		}},
		{"a request that does not wait closes no cycle: it is a conflict", func(f *fixture) {
			a, b := f.actor("first"), f.actor("second")
			a.takes(x("/a"))
			b.takes(x("/b"))
			a.queuesFor(x("/b"))
			b.isRefused(x("/a"))
		}},
		{"a refused upgrade leaves what was held", func(f *fixture) {
			a, b := f.actor("first"), f.actor("second")
			a.takes(s("/a"))
			second := b.takes(s("/a"))
			p := a.queuesFor(x("/a"))
			b.deadlocks(x("/a"))
			f.requireHolds(b)
			p.isCancelled()
			f.actor("writer").isRefused(x("/a"))
			second.release()
		}},
		{"in different trees the same order is no deadlock", func(f *fixture) {
			other := f.newTree("another " + f.tree.ID())
			a, b := f.actor("first"), f.actor("second")
			a.takes(x("/a"))
			b.takes(x("/b"))
			elsewhere := &actor{fixture: f, tree: other, owner: b.owner, name: b.name}
			elsewhere.takes(x("/a"))
			a.queuesFor(x("/b")).isCancelled()
		}},
	}}
}

// deadlocks requires that a waiting request for claims gets a deadlock at once.
func (a *actor) deadlocks(claims ...pathlock.Claim) pathlock.DeadlockError {
	a.Helper()
	return a.deadlock(a.ask(claims...))
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
