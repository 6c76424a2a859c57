package storetest

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Option changes what [Run] tests.
type Option func(*suite)

// Crash adds the promises about two clients of one server, and about clients that die. Run calls
// the function once for each of them. It returns two clients of one server. When crash is called,
// the second client dies: nothing that it does reaches the server, as if its process had been
// killed or its network cut. Its calls may fail then, or hang until their context ends. The
// function registers what has to be closed or removed afterwards with t.Cleanup.
func Crash(clients func(t *testing.T) (survivor, victim pathlock.Store, crash func())) Option {
	return func(s *suite) { s.clients = clients }
}

// Leases sets the lease of holds that are meant to end during a test. The default is 500
// milliseconds. A store whose calls may take longer than that on a busy machine needs more: what a
// test asks while a lease lives would come too late.
func Leases(d time.Duration) Option { return func(s *suite) { s.short = d } }

// Virtual runs each promise in a bubble of package synctest, where leases end without anybody
// waiting for them. It is for stores that need nothing outside of the process, not even
// connections.
func Virtual() Option { return func(s *suite) { s.virtual = true } }

// suite is the configuration of a run.
type suite struct {
	virtual bool
	short   time.Duration
	clients func(t *testing.T) (survivor, victim pathlock.Store, crash func())
	silent  []func(t *testing.T) Silent
}

// lifetime is the lease of actors that crash. It is long enough to tell one lease from one and a
// half on a busy machine.
const lifetime = 3 * time.Second

// crashes is about clients that die. A dead client's holds and waits keep nobody out for longer
// than one lease from its last sign of life.
func (r *suite) crashes() topic {
	if r.clients == nil {
		return topic{name: "crash"}
	}
	with := func(name string, check func(c *crash)) promise {
		return promise{name, func(f *fixture) {
			survivor, victim, die := r.clients(f.T)
			// This fixture's last checks come before the survivor is closed.
			c := &crash{fixture: r.newFixture(f.T, survivor), die: die}
			c.victim = &fixture{T: f.T, ctx: f.ctx, store: victim, tree: c.tree, mortal: true, short: r.short}
			check(c)
		}}
	}
	return topic{"crash", []promise{
		with("a dead holder keeps nobody out for longer than one lease", func(c *crash) {
			c.dying().leases(lifetime, x("/a"))
			c.dies()
			c.frees(c.actor("next").queuesFor(x("/a")))
		}),
		with("a dead waiter's place in the queue ends within one lease of its last sign of life", func(c *crash) {
			c.actor("reader").takes(s("/a"))
			c.waits(x("/a"))
			late := c.actor("late reader").queuesFor(s("/a"))
			c.dies()
			c.frees(late)
		}),
		with("a hand-over to a dead waiter begins no new lease", func(c *crash) {
			holder := c.actor("holder").takes(x("/a"))
			c.waits(x("/a"))
			next := c.actor("next").queuesFor(x("/a"))
			c.dies()
			c.pass(lifetime / 2)
			holder.release()
			c.frees(next)
		}),
		with("of several dead waiters in a row each keeps the others back no longer than all do", func(c *crash) {
			holder := c.actor("holder").takes(x("/a"))
			for range 3 {
				c.waits(x("/a"))
			}
			next := c.actor("next").queuesFor(x("/a"))
			c.dies()
			holder.release()
			c.frees(next)
		}),
	}}
}

// crash is a test with a client that dies.
type crash struct {
	*fixture
	victim *fixture
	die    func()
	died   time.Time
}

// dying returns an owner in the client that dies.
func (c *crash) dying() *actor { return c.victim.actor("victim " + rand.Text()[:4]) }

// waits makes an owner of the dying client begin to wait.
func (c *crash) waits(claims ...pathlock.Claim) {
	c.Helper()
	a := c.dying()
	req := a.ask(claims...)
	req.Lease = lifetime
	p := a.queue(a.ctx, req)
	c.Cleanup(p.cancel)
}

// dies ends the client.
func (c *crash) dies() {
	c.die()
	c.died = time.Now()
}

// frees requires that a request is granted within one lease of the client's death.
func (c *crash) frees(p *pending) {
	c.Helper()
	p.isGranted()
	const slack = 3 * lifetime / 10
	if took := p.ended.Sub(c.died); took > lifetime+slack {
		c.Errorf("granted %v after the client died, want at most one lease of %v", took, lifetime)
	}
}
