package simulation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/proof/modes"
)

// token is a hold that belongs to no process. Its bearers are one in its tree.
type token struct {
	pathlock.Token
	id     int // of the bearers in the tree
	tree   pathlock.Tree
	claims []pathlock.Claim
	gate   bool
	gated  bool // it may rely on a gate, which has no claims

	// The world's mutex guards what follows. until is before the hold's end unless over says that
	// somebody may have ended it. released says that somebody has.
	until          time.Time
	over, released bool
	// It was had until it was raised.
	had, raised   time.Time
	sets, setting int  // how often somebody has begun to set the end, and may not have done so yet
	grown         bool // by what locks under it have left with it
}

// someToken returns a token, nil if there is none, and sometimes nobody will have it again.
func (c *caller) someToken() *token {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	if len(c.tokens) == 0 {
		return nil
	}
	i := c.random.IntN(len(c.tokens))
	t := c.tokens[i]
	if c.sometimes(20) {
		c.tokens = slices.Delete(c.tokens, i, i+1)
	}
	return t
}

// endToken notes that somebody is about to end a hold, and returns those that rely on it.
func (w *world) endToken(t *token) []*hold {
	w.mu.Lock()
	t.over = true
	w.mu.Unlock()
	return w.revoke(t.id)
}

// lasts says whether a hold is certain to exist for some further time, unless somebody ends it.
func (w *world) lasts(t *token, further time.Duration) bool {
	return time.Now().Add(further).Before(w.sureOf(t))
}

// sureOf returns until when a hold is certain to exist, zero if it is not.
func (w *world) sureOf(t *token) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case t.over || w.forced[t.id] || w.kind == lossy:
		return time.Time{}
	case time.Since(t.raised) < 2*time.Second && t.had.Before(t.until): // bearers learn of it later
		return t.had
	}
	return t.until
}

// bear does something with a token.
func (c *caller) bear(t *token) {
	asked, sure := time.Now(), c.sureOf(t)
	switch n := c.random.IntN(10); {
	case n == 0:
		relied := c.endToken(t)
		err := c.locker.ReleaseToken(context.Background(), t.Token)
		c.note("%s releases the token of %d: %v", c.name, t.id, err)
		c.mayFail(t, asked, sure, err)
		if err == nil {
			c.learnSoon(relied)
			c.world.mu.Lock()
			t.released = true
			c.world.mu.Unlock()
		}
	case n < 3:
		c.refresh(t)
	default:
		c.attach(t)
	}
}

// mayFail judges the error of something that was done with a token, whose hold was sure to last
// until then when it was asked for. An answer about a hold that may have ended on its way is none.
func (c *caller) mayFail(t *token, asked, sure time.Time, err error) {
	known := errors.Is(err, pathlock.ErrLost) || errors.Is(err, pathlock.ErrUnavailable) && c.kind != quiet
	wasSure := time.Now().Add(time.Since(asked)).Before(sure)
	if err != nil && (!known || wasSure && errors.Is(err, pathlock.ErrLost) && c.lasts(t, time.Since(asked))) {
		c.failf("the hold of %d until %v: %v", t.id, t.until, err)
	}
}

// learnSoon judges that holds that were ended from outside end soon, if nothing fails.
func (c *caller) learnSoon(relied []*hold) {
	if c.kind == quiet {
		c.learn(relied, c.lease/3+c.lease/30+500*time.Millisecond)
	}
}

// refresh sets the end of a token's hold.
func (c *caller) refresh(t *token) {
	d := c.lease + c.some(1)
	if c.sometimes(30) {
		d = c.lease/10 + c.some(0.3)
		c.revoke(t.id) // for whoever believes in more
	}
	c.world.refresh(t.id)
	asked, sure := time.Now(), c.sureOf(t)
	c.world.mu.Lock()
	t.sets++
	t.setting++
	set, alone := t.sets, t.setting == 1
	if until := asked.Add(d); until.Before(t.until) {
		t.until = until
	}
	c.world.mu.Unlock()
	until, err := c.locker.Refresh(context.Background(), t.Token, d)
	c.note("%s refreshes the hold of %d for %v: %v", c.name, t.id, d, err)
	c.mayFail(t, asked, sure, err)
	if err != nil {
		return
	}
	if from := until.Add(-d); c.small && c.kind != lossy && (from.Before(asked.Add(-time.Millisecond)) || from.After(time.Now())) {
		c.failf("the hold of %d is refreshed for %v between %v and %v, and ends at %v", t.id, d, asked, time.Now(), until)
	}
	c.world.mu.Lock()
	if t.setting--; alone && t.sets == set {
		if time.Since(t.raised) > 2*time.Second {
			t.had = t.until
		}
		t.raised, t.until = time.Now(), until
	}
	c.world.mu.Unlock()
}

// attach goes on with a hold of another instance.
func (c *caller) attach(t *token) {
	c.world.mu.Lock()
	released, grown := t.released, t.grown
	c.world.mu.Unlock()
	asked, sure := time.Now(), c.sureOf(t)
	var opts []pathlock.AttachOption
	if c.sometimes(40) {
		opts = append(opts, pathlock.WithoutRenewal())
	}
	lock, err := c.locker.Attach(context.Background(), t.Token, opts...)
	c.note("%s attaches the hold of %d: %v", c.name, t.id, err)
	c.mayFail(t, asked, sure, err)
	if err != nil || c.dead.Err() != nil {
		return
	}
	if released && c.kind != lossy {
		c.failf("the hold of %d was released, and %s attaches it", t.id, c.name)
	}
	has := lock.Claims()
	lacks := func(claim pathlock.Claim) bool { return !modes.Cover(has, claim) }
	if c.lasts(t, 0) && !t.gated && (slices.ContainsFunc(t.claims, lacks) || !grown && !t.grown && !slices.Equal(has, t.claims)) {
		c.failf("the hold of %d has %v, and had %v", t.id, has, t.claims)
	}
	s := &session{world: c.world, ids: map[pathlock.Tree]int{t.tree: t.id}, token: t, gated: t.gated}
	s.use(1)
	defer s.use(-1)
	h := &hold{name: c.name + " attached", scope: t.id, tree: t.tree, gate: t.gate, claims: t.claims, fence: lock.Fence(), until: lock.Until}
	c.began(lock.Context(), h, 0)
	(&work{caller: c, session: s, hold: h, lock: lock, parent: context.Background(), depth: 1, got: time.Now(), attached: true}).run()
}

// detach leaves what the lock holds to whoever has the token. It reports whether it has.
func (k *work) detach() bool {
	h, alone, before := k.hold, k.session.alone(), k.lock.Context().Err()
	sure := h.ended.IsZero() // or an exchange has left something else of the gate
	if k.session.isPart(h.tree) {
		k.keep(h.name)
	} else {
		k.keep(fmt.Sprint(h.scope))
	}
	claims := k.lock.Claims()
	k.ended(h)
	of := k.session.root().token
	if of != nil && of.tree == h.tree {
		k.world.mu.Lock()
		of.grown, of.gated = true, of.gated || k.session.root().gated
		k.world.mu.Unlock()
	} else {
		of = nil
	}
	t, err := k.lock.Detach(context.Background())
	k.note("%s is detached until %v: %v", h.name, k.lock.Until(), brief(err))
	switch {
	case k.dead.Err() != nil:
		return true
	case err != nil:
		possible := errors.Is(err, pathlock.ErrLost) || errors.Is(err, pathlock.ErrNotHeld) || errors.Is(err, pathlock.ErrInvalidRequest) || errors.Is(err, pathlock.ErrUnavailable)
		expected := !alone || before != nil || k.maxHold > 0 || k.session.mayLose(h.tree)
		if !possible || !expected {
			k.failf("%s cannot be detached: %v", h.name, err)
		}
		if errors.Is(err, pathlock.ErrUnavailable) && of == nil { // nobody may have the hold
			k.session.left(h.tree)
		}
		return false
	case of != nil:
		if t != of.Token {
			k.failf("%s has another token than the hold of %d", h.name, of.id)
		}
	default:
		id, revoked := k.session.left(h.tree), k.isRevoked(h.scope)
		k.world.mu.Lock()
		defer k.world.mu.Unlock()
		over := k.kind == lossy || revoked
		k.tokens = append(k.tokens, &token{Token: t, id: id, tree: h.tree, claims: claims, gate: h.gate && sure, gated: k.session.root().gated, until: k.lock.Until(), over: over})
	}
	return true
}

// force takes everything from one who holds something.
func (c *caller) force() {
	tree := trees[c.random.IntN(len(trees))]
	snapshot, err := c.locker.Snapshot(context.Background(), tree)
	if err != nil || len(snapshot.Holders) == 0 {
		return
	}
	victim := snapshot.Holders[c.random.IntN(len(snapshot.Holders))]
	scope := scopeOf(victim)
	c.world.mu.Lock()
	c.forced[scope] = true
	c.world.mu.Unlock()
	relied := c.revoke(scope)
	err = c.locker.ForceRelease(context.Background(), tree, victim.Owner)
	c.note("%s takes %v from %d: %v", c.name, tree, scope, err)
	if err == nil {
		c.learnSoon(relied)
	}
}
