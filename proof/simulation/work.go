package simulation

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/proof/modes"
)

// work is what a caller does with a lock.
type work struct {
	*caller
	session *session
	hold    *hold
	lock    *pathlock.Lock
	parent  context.Context
	depth   int
	maxHold time.Duration
	got     time.Time
	// attached says that Attach has returned the lock.
	attached bool
}

func (k *work) run() {
	ctx := k.lock.Context()
	for range k.random.IntN(4) {
		k.rest(ctx, 0.3)
		if ctx.Err() != nil || k.dead.Err() != nil {
			break
		}
		k.step(ctx)
	}
	k.rest(ctx, 0.3)
	if k.maxHold > 0 && time.Since(k.got) > k.maxHold && ctx.Err() == nil {
		k.failf("%s is held since %v, and was to be for %v", k.hold.name, k.got, k.maxHold)
	}
	if k.dead.Err() != nil {
		k.ended(k.hold)
		return // nobody releases what a crashed process holds
	}
	if k.attached {
		k.session.ended = true
	}
	if !k.sometimes(15) || !k.detach() {
		k.release(ctx)
	}
	if k.dead.Err() != nil {
		return
	}
	if ctx.Err() == nil {
		k.failf("the context of %s goes on after its end", k.hold.name)
	}
	if err := k.lock.Release(context.Background()); !errors.Is(err, pathlock.ErrNotHeld) {
		k.failf("the second end of %s: %v", k.hold.name, err)
	}
}

// step does something under the lock.
func (k *work) step(ctx context.Context) {
	switch n := k.random.IntN(10); {
	case n < 5 && k.depth < 3:
		k.under(ctx)
	case n == 5 && k.hold.ended.IsZero():
		claims, note := k.claims(), k.nameIn(k.hold.scope)
		k.change(ctx, "exchanged", func() error {
			return k.lock.Exchange(ctx, claims, note)
		}, func(h *hold) { h.claims, h.name, h.gate = claims, note, false })
	case n == 6 && k.hold.ended.IsZero():
		k.change(ctx, "downgraded", func() error {
			err := k.lock.Downgrade(ctx)
			if k.kind == quiet && errors.Is(err, pathlock.ErrConflict) {
				k.failf("%s cannot be downgraded: %v", k.hold.name, err)
			}
			return err
		}, func(h *hold) {
			h.claims = slices.Clone(h.claims)
			for i, c := range h.claims {
				h.claims[i].Mode = map[bool]pathlock.Mode{true: pathlock.ModeIS, false: pathlock.ModeS}[c.Mode <= pathlock.ModeIX]
			}
		})
	default:
		has := k.lock.Claims()
		lacks := func(c pathlock.Claim) bool { return !modes.Cover(has, c) }
		if !k.session.root().gated && k.hold.lives() && slices.ContainsFunc(k.hold.claims, lacks) {
			k.failf("%s is to have %v, and has %v", k.hold.name, k.hold.claims, has)
		}
	}
}

// under acquires something more under ctx, meanwhile or before it goes on.
func (k *work) under(ctx context.Context) {
	s, tree := k.session, k.hold.tree
	if k.sometimes(30) {
		tree = trees[k.random.IntN(len(trees))]
	}
	several := s.outer != nil || s.only == ownTree // scopes
	if several || k.sometimes(60) {
		k.acquire(ctx, s, tree, k.depth+1)
		return
	}
	// The new lock may outlive this one. Contexts that end with one, at one moment, end in any
	// order.
	ctx = k.locker.Scope(ctx).Context(context.Background())
	c := &caller{instance: k.instance, random: rand.New(rand.NewPCG(k.random.Uint64(), 5)), name: k.name}
	s.use(1)
	k.workers.Go(func() {
		defer s.use(-1)
		c.acquire(ctx, s, tree, k.depth+1)
	})
}

// change has the lock rely on something else. Meanwhile nobody of its scope is sure of anything.
func (k *work) change(ctx context.Context, what string, do func() error, apply func(*hold)) {
	k.session.swap(1)
	before, _, _ := k.session.exchanges()
	k.exchanging(k.hold)
	err := do()
	k.session.swap(-1)
	k.note("%s is %s: %v", k.hold.name, what, err)
	now := *k.hold
	now.ended = time.Time{}
	if err == nil {
		apply(&now)
		now.since = time.Now()
	}
	if errors.Is(err, pathlock.ErrLost) && k.kind == quiet { // it knows by now
		k.learn([]*hold{k.hold}, 500*time.Millisecond)
	}
	if swaps, underWay, _ := k.session.exchanges(); !errors.Is(err, pathlock.ErrLost) && ctx.Err() == nil && k.dead.Err() == nil && underWay == 0 && swaps == before+1 {
		k.hold = &now
		k.began(ctx, k.hold, 0)
	}
	possible := []error{nil, pathlock.ErrConflict, pathlock.ErrDeadlock, pathlock.ErrUnavailable, pathlock.ErrInvalidRequest, pathlock.ErrLost, pathlock.ErrNotHeld, ctx.Err()}
	if !slices.ContainsFunc(possible, func(p error) bool { return errors.Is(err, p) }) {
		k.failf("%s is %s: %v", k.hold.name, what, err)
	}
}

// brief leaves out why a lock was lost: there may be two reasons at one moment.
func brief(err error) error {
	if errors.Is(err, pathlock.ErrLost) {
		return pathlock.ErrLost
	}
	return err
}

// release ends the lock in one of the ways.
func (k *work) release(ctx context.Context) {
	h, before := k.hold, context.Cause(ctx)
	k.ended(h)
	if k.attached {
		k.endToken(k.session.root().token)
	}
	enough := errors.New("enough")
	switch k.random.IntN(8) {
	case 0:
		k.lock.ReleaseInBackground(context.Background())
	case 1:
		k.lock.Abandon(context.Background(), enough)
		if cause := context.Cause(ctx); before == nil && !errors.Is(cause, enough) && k.parent.Err() == nil && k.maxHold == 0 {
			k.failf("%s was abandoned, and its context ended with %v", h.name, cause)
		}
	default:
		err := k.lock.Release(context.Background())
		k.note("%s is released: %v", h.name, brief(err))
		if err == nil && k.kind == quiet && k.depth == 0 && !k.attached && k.session.alone() {
			k.finish(h.name)
		}
		expected := before == nil || k.maxHold > 0 || k.parent.Err() != nil || errors.Is(err, pathlock.ErrLost)
		if !expected && errors.Is(before, pathlock.ErrLost) {
			k.failf("%s was lost (%v), and its release says %v", h.name, before, err)
		}
		if errors.Is(err, pathlock.ErrNotHeld) && (k.maxHold == 0 || !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, pathlock.ErrLost)) {
			k.failf("%s is released, and was before: %v", h.name, err)
		}
		if err != nil && k.maxHold == 0 && !k.session.mayLose(h.tree) {
			k.failf("%s is lost without a fault: %v", h.name, err)
		}
	}
}
