package pathlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// exchange asks the store to grant something else to the lock's owner. swap then makes the lock
// rely on the new grant, and exchange releases the old ones that nothing else needs. The owner
// passes all that wait for it, so nobody gets in between. exchange calls request, which says what
// to ask for, and swap with the scope's mutex locked. An error leaves the lock unchanged.
func (k *Lock) exchange(ctx context.Context, request func() (prepared, error), swap func(fresh *Lock) error) error {
	h := k.holding
	l := h.scope.locker
	h.checkClock()
	h.scope.mu.Lock()
	err := k.mayExchange()
	var a prepared
	if err == nil {
		a, err = request()
	}
	h.scope.mu.Unlock()
	if err != nil {
		return err
	}
	a.observed = l.observe(ctx, a.Operation)
	fresh, err := l.ask(ctx, h.scope, a)
	if err != nil {
		return err
	}
	h.scope.mu.Lock()
	switch err = k.mayExchange(); {
	case err != nil:
	case fresh.holding != h:
		err = h.expire()
	default:
		err = swap(fresh)
	}
	h.scope.mu.Unlock()
	if released := fresh.Release(ctx); err == nil && errors.Is(released, ErrLost) {
		err = released
	}
	return err
}

// mayExchange returns why the lock cannot rely on something else, nil if it can. It expects the
// scope's mutex to be locked.
func (k *Lock) mayExchange() error {
	switch h := k.holding; {
	case h.token != "":
		return fmt.Errorf("pathlock: exchange in %s: %w: a hold with a token stays as it is", h.tree, ErrInvalidRequest)
	case k.released || h.detaching:
		return k.errReleased()
	default:
		return h.lost
	}
}

// Exchange replaces the claims of the lock, of all locks that re-enter it, and of the one that it
// re-enters. Nobody gets in between, and the fence stays. From then on, others see the note and the
// fence of the new grant. It does not wait for others. Errors are those of [Lock.Downgrade]. A lock
// that [Merge] has merged, or that re-enters several, gets [ErrInvalidRequest]. An error leaves the
// lock unchanged.
func (k *Lock) Exchange(ctx context.Context, claims []Claim, note string) error {
	own := func() error {
		if len(k.pins) != 1 || k.pins[0].merged {
			return fmt.Errorf("pathlock: exchange in %s: %w: the lock is merged with others, or re-enters several", k.holding.tree, ErrInvalidRequest)
		}
		return nil
	}
	return k.exchange(ctx, func() (prepared, error) {
		if err := own(); err != nil {
			return prepared{}, err
		}
		req := k.again()
		req.Claims, req.Note = claims, note
		return k.holding.scope.locker.prepare(req)
	}, func(fresh *Lock) error {
		if err := own(); err != nil { // it was merged meanwhile
			return err
		}
		was, is := k.pins[0], fresh.pins[0]
		was.id, is.id = is.id, was.id
		was.gate, is.gate = is.gate, was.gate
		was.claims, is.claims = is.claims, was.claims
		k.note = note
		return nil
	})
}

// again returns a request like the lock's own, without claims, that does not wait. It expects the
// scope's mutex to be locked.
func (k *Lock) again() Request {
	return Request{Tree: k.holding.tree, Wait: NoWait, Lease: k.lease, Note: k.note, Operation: k.operation}
}

// Downgrade turns a write lock into a read lock, without letting another writer in between: the
// lock then shares what it held exclusively. Readers that came before the first waiting writer get
// in, others wait behind it. The lock keeps its context, its fence and its MaxHold. Other locks of
// the scope that rely on the exclusive hold keep it.
//
// It does not wait for others. Errors are those of [Lock.Release] and [Locker.Acquire], and match
// [ErrInvalidRequest] for the gate of a tree and for a lock on a hold that [Locker.Attach] has
// returned. An error leaves the lock unchanged.
func (k *Lock) Downgrade(ctx context.Context) error {
	return k.exchange(ctx, func() (prepared, error) {
		req := k.again()
		for _, g := range k.pins {
			if g.gate {
				return prepared{}, fmt.Errorf("pathlock: downgrade in %s: %w: a gate cannot be shared", req.Tree, ErrInvalidRequest)
			}
			for _, c := range g.claims {
				mode := ModeS
				if c.Mode <= ModeIX {
					mode = ModeIS
				}
				req.Claims = append(req.Claims, Claim{c.Path, mode})
			}
		}
		return prepared{Request: req, folded: req.Claims}, nil
	}, func(fresh *Lock) error {
		k.pins, fresh.pins = fresh.pins, k.pins
		return nil
	})
}

// Merge combines the grants of locks of one scope in one tree into a single grant. Stores limit how
// many grants an owner may have in a tree: a caller that takes many locks one by one stays below
// the limit. Locks of several scopes or trees are merged separately. They work as before, but their
// nodes stay held until the last of the merged locks is released. Errors are those of
// [Lock.Downgrade]. An error leaves the locks that it concerns unchanged.
func Merge(ctx context.Context, locks []*Lock) error {
	byHolding := make(map[*holding][]*Lock)
	for _, k := range locks {
		byHolding[k.holding] = append(byHolding[k.holding], k)
	}
	var failed []error
	for h, own := range byHolding {
		failed = append(failed, h.merge(ctx, own))
	}
	return errors.Join(failed...)
}

// merge is [Merge] for locks of one holding.
func (h *holding) merge(ctx context.Context, locks []*Lock) error {
	granted := slices.DeleteFunc(slices.Clone(locks), func(k *Lock) bool { return k.reentrant })
	if len(granted) < 2 {
		return nil
	}
	var parts []*grant
	return granted[0].exchange(ctx, func() (prepared, error) {
		req := granted[0].again()
		for _, k := range granted {
			if !k.released {
				parts = append(parts, k.pins...)
			}
		}
		for _, g := range parts {
			req.Gate, req.Claims = req.Gate || g.gate, append(req.Claims, g.claims...)
		}
		return prepared{Request: req, folded: Normalize(req.Claims...)}, nil
	}, func(fresh *Lock) error {
		whole := fresh.pins[0]
		whole.merged, whole.pins, fresh.pins = true, 0, nil
		for _, k := range locks {
			if k.released {
				continue
			}
			var kept []*grant
			for _, g := range k.pins {
				if slices.Contains(parts, g) {
					fresh.pins = append(fresh.pins, g) // which gives it back
				} else {
					kept = append(kept, g)
				}
			}
			if len(kept) < len(k.pins) {
				kept = append(kept, whole)
				k.pins, whole.pins = kept, whole.pins+1
			}
		}
		return nil
	})
}
