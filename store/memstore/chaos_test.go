package memstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Random owners acquire, upgrade, wait, give up, crash, renew, release, transfer and are forced
// out, in virtual time; after every step the table is what it must be, and at the end nothing is
// left.
func TestTableStaysSound(t *testing.T) {
	for range 20 {
		seed := rand.Uint64()
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newChaos(t, seed)
				for step := range 300 {
					c.step(step)
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
	owners  []pathlock.Owner
	pending int
	results chan error
}

func newChaos(t *testing.T, seed uint64) *chaos {
	tree, err := pathlock.NewTree("test", "chaos")
	if err != nil {
		t.Fatal(err)
	}
	owners := []pathlock.Owner{"a", "b", "c", "d", "e", "f"}
	return &chaos{T: t, random: rand.New(rand.NewPCG(seed, 0)), store: New(), tree: tree, owners: owners, results: make(chan error, 1000)}
}

func (c *chaos) upTo(most int) time.Duration { return time.Duration(c.random.IntN(most)) * time.Second }

func (c *chaos) owner() pathlock.Owner { return c.owners[c.random.IntN(len(c.owners))] }

// grantID returns one of so few that requests are repeated and owners ask for several things at
// once.
func (c *chaos) grantID() pathlock.GrantID { return pathlock.GrantID(fmt.Sprint(c.random.IntN(4))) }

// step does one random thing and returns when all that follows from it has happened.
func (c *chaos) step(n int) {
	var err error
	switch c.random.IntN(22) {
	default:
		c.acquire(n)
	case 10, 11, 12, 13:
		err = c.store.Release(c.Context(), c.tree, c.owner(), c.grantID())
	case 14, 15:
		_, err = c.store.Renew(c.Context(), c.tree, []pathlock.Lease{{Owner: c.owner(), For: c.upTo(60)}})
	case 16:
		err = c.store.ForceRelease(c.Context(), c.tree, c.owner())
	case 17, 18, 19:
		time.Sleep(c.upTo(20)) // virtual
	case 20, 21:
		err = c.transfer(n)
	}
	if err != nil && !errors.Is(err, pathlock.ErrNotHeld) {
		c.Fatal(err)
	}
	synctest.Wait()
}

// transfer gives what a random owner holds to another or to the same, who may be in the tree
// already, or to a new one, who takes the place of the old one in what follows.
func (c *chaos) transfer(n int) error {
	i := c.random.IntN(len(c.owners))
	tr := pathlock.Transfer{Tree: c.tree, From: c.owners[i], To: c.owner(), Lease: c.upTo(60)}
	if c.random.IntN(3) > 0 {
		tr.To = pathlock.Owner(fmt.Sprint("heir ", n))
		c.owners[i] = tr.To
	}
	_, err := c.store.Transfer(c.Context(), tr)
	if errors.Is(err, pathlock.ErrLost) || errors.Is(err, pathlock.ErrInvalidRequest) {
		return nil
	}
	return err
}

// acquire makes a random request in the background, which is cancelled at times.
func (c *chaos) acquire(n int) {
	paths := []string{"/", "/a", "/a/b", "/a/b/c", "/a/d", "/e", "/e/f"}
	var set []pathlock.Claim
	for range 1 + c.random.IntN(2) {
		set = append(set, pathlock.Claim{
			Path: pathlock.MustParsePath(paths[c.random.IntN(len(paths))]),
			Mode: pathlock.Modes()[c.random.IntN(len(pathlock.Modes()))],
		})
	}
	req := pathlock.Acquisition{
		Tree: c.tree, Owner: c.owner(), Grant: c.grantID(),
		Gate: c.random.IntN(30) == 0, Claims: pathlock.Normalize(set...),
		Lease: time.Second + c.upTo(100), Wait: c.upTo(60),
		Note: fmt.Sprintf("step %d", n),
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

func (c *chaos) audit(step int) {
	for _, t := range c.store.useAll() {
		if err := t.audit(); err != nil {
			c.Fatalf("after step %d: %v", step, err)
		}
		c.store.unuse(t)
	}
}

// end lets every lease and every wait end and looks at what the requests led to.
func (c *chaos) end() {
	time.Sleep(time.Hour) // virtual
	outcomes := make(map[error]int)
	expected := []error{nil, pathlock.ErrConflict, pathlock.ErrDeadlock, pathlock.ErrLost, context.Canceled}
	for range c.pending {
		err, known := <-c.results, false
		for _, target := range expected {
			if errors.Is(err, target) {
				outcomes[target]++
				known = true
			}
		}
		if !known {
			c.Errorf("a request ended with %v", err)
		}
	}
	c.Log(outcomes)
	if trees, err := c.store.Trees(c.Context()); err != nil || len(trees) > 0 {
		c.Errorf("Trees: %v, %v; want none", trees, err)
	}
	if n := len(c.store.tables); n > 0 {
		c.Errorf("%d tables are not forgotten", n)
	}
}

// audit checks what must be true of a table whenever its mutex is free.
func (t *table) audit() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	first, runs := t.FirstEnd()
	if armed := !t.alarm.at.IsZero(); armed != (t.Waiters() > 0 && runs) {
		return fmt.Errorf("the alarm is set: %v, with %d waiters, and a lease runs: %v", armed, t.Waiters(), runs)
	}
	if t.Waiters() > 0 && t.alarm.at.After(first) {
		return fmt.Errorf("the alarm ticks at %v, after the first lease ends at %v", t.alarm.at, first)
	}
	return nil
}
