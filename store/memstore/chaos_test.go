package memstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Random owners acquire, wait, give up, renew, release and transfer, and their leases end, in
// virtual time. After every step the alarm is set for the waiters there are, and at the end nothing
// is left. What is granted to whom, storetest knows.
func TestAlarmIsSound(t *testing.T) {
	for range 20 {
		seed := rand.Uint64()
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newChaos(t, seed)
				for step := range 300 {
					if err := c.step(); err != nil && !errors.Is(err, pathlock.ErrNotHeld) && !errors.Is(err, pathlock.ErrLost) {
						t.Fatal(err)
					}
					synctest.Wait()
					c.audit(step)
				}
				c.end()
			})
		})
	}
}

// chaos is one run of random operations on one tree.
type chaos struct {
	*testing.T
	random  *rand.Rand
	store   *Store
	tree    pathlock.Tree
	pending int
	results chan error
}

func newChaos(t *testing.T, seed uint64) *chaos {
	tree, err := pathlock.NewTree("test", "chaos")
	if err != nil {
		t.Fatal(err)
	}
	return &chaos{T: t, random: rand.New(rand.NewPCG(seed, 0)), store: New(), tree: tree, results: make(chan error, 1000)}
}

func (c *chaos) upTo(most int) time.Duration { return time.Duration(c.random.IntN(most)) * time.Second }

func (c *chaos) owner() pathlock.Owner { return pathlock.Owner(fmt.Sprint(c.random.IntN(6))) }

// grantID returns one of so few that requests are repeated and owners ask for several things at
// once.
func (c *chaos) grantID() pathlock.GrantID { return pathlock.GrantID(fmt.Sprint(c.random.IntN(4))) }

// step does one random thing.
func (c *chaos) step() (err error) {
	switch c.random.IntN(10) {
	default:
		c.acquire()
	case 5, 6:
		err = c.store.Release(c.Context(), c.tree, c.owner(), c.grantID())
	case 7:
		_, err = c.store.Renew(c.Context(), c.tree, []pathlock.Lease{{Owner: c.owner(), For: c.upTo(60)}})
	case 8:
		owner := c.owner()
		_, err = c.store.Transfer(c.Context(), pathlock.Transfer{Tree: c.tree, From: owner, To: owner, Lease: c.upTo(60)})
	case 9:
		time.Sleep(c.upTo(20)) // virtual
	}
	return err
}

// acquire makes a random request in the background, which is cancelled at times.
func (c *chaos) acquire() {
	paths := []string{"/", "/a", "/a/b", "/c"}
	claim := pathlock.Claim{
		Path: pathlock.MustParsePath(paths[c.random.IntN(len(paths))]),
		Mode: pathlock.Modes()[c.random.IntN(len(pathlock.Modes()))],
	}
	req := pathlock.Acquisition{
		Tree: c.tree, Owner: c.owner(), Grant: c.grantID(), Claims: pathlock.Normalize(claim),
		Lease: time.Second + c.upTo(100), Wait: c.upTo(60),
	}
	ctx, cancel := context.WithCancel(c.Context())
	if c.random.IntN(4) == 0 {
		time.AfterFunc(c.upTo(30), cancel)
	}
	c.pending++
	go func() {
		defer cancel()
		_, err := c.store.Acquire(ctx, req)
		c.results <- err
	}()
}

// audit checks what must be true of an alarm whenever the table's mutex is free.
func (c *chaos) audit(step int) {
	for _, t := range c.store.useAll() {
		t.mu.Lock()
		first, runs := t.FirstEnd()
		if armed := !t.alarm.at.IsZero(); armed != (t.Waiters() > 0 && runs) || armed && t.alarm.at.After(first) {
			c.Errorf("after step %d: the alarm is set: %v, for %v, with %d waiters; a lease runs: %v, until %v", step, armed, t.alarm.at, t.Waiters(), runs, first)
		}
		t.mu.Unlock()
		c.store.unuse(t)
	}
}

// end lets every lease and every wait end.
func (c *chaos) end() {
	time.Sleep(time.Hour) // virtual
	expected := []error{nil, pathlock.ErrConflict, pathlock.ErrDeadlock, pathlock.ErrLost, context.Canceled}
	for range c.pending {
		if err := <-c.results; !slices.ContainsFunc(expected, func(target error) bool { return errors.Is(err, target) }) {
			c.Errorf("a request ended with %v", err)
		}
	}
	trees, err := c.store.Trees(c.Context()) // which forgets those without a lease that runs
	if err != nil || len(trees) > 0 {
		c.Errorf("Trees: %v, %v; want none", trees, err)
	}
	if n := len(c.store.tables); n > 0 {
		c.Errorf("%d tables are not forgotten", n)
	}
}
