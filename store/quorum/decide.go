package quorum

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/pathlock-go/pathlock"
)

// try asks the lead to grant the request, and then the others to confirm the grant. If no majority
// does, it gives everything back and returns nil. It also gives everything back if the caller's
// Waiting panics.
func (r *request) try() (granted grants, err error) {
	r.asks, r.failed, r.refused = nil, make(map[*member]error), nil
	defer func() { r.settle(granted) }()
	lead, err := r.lead()
	if err != nil {
		return nil, err
	}
	got := r.confirm(lead)
	if len(got) < r.store.majority {
		return nil, nil
	}
	if !got.outlast(r.ctx, r.store.majority, r.until) {
		for _, one := range got {
			r.failed[one.member] = errTimeout
		}
		return nil, r.unavailable()
	}
	if r.ctx.Err() != nil {
		return nil, r.interrupted()
	}
	return got, nil
}

// lead asks the first member that serves to grant the request. The order in which it grants is that
// of the queue. If it has nothing of the owner's, it was away when that was granted: the next one
// leads.
func (r *request) lead() (grant, error) {
	for _, m := range r.store.members {
		if m.whySilent() != nil || m.isAsked(r.key) {
			continue
		}
		if err := r.hopeless(); err != nil {
			return grant{}, err
		}
		got := r.await(r.ask(m, r.remaining(), r.Held, make(chan grant, 1)))
		if got.err == nil {
			return got, nil
		}
		if isAnswer(got.err) && (!r.Held || !isLost(got.err)) {
			return grant{}, r.conflict(got.err)
		}
		r.failed[m] = got.err
		r.settle(nil)
	}
	return grant{}, cmp.Or(r.hopeless(), r.unavailable())
}

// confirm asks the other members to grant what the lead has granted, once, and returns what is
// granted then.
//
// Whatever blocks the request at the others is about to go: somebody releases, or gives up. So even
// a request that must not wait waits there for a moment, but for less than a lease, since nobody
// renews its grants meanwhile.
func (r *request) confirm(lead grant) grants {
	wait := min(longestConfirmation, max(r.Lease/8, time.Millisecond))
	answers := make(chan grant, len(r.store.members))
	pending := make(map[*member]bool)
	// Those that could not lead may serve by now.
	maps.DeleteFunc(r.failed, func(_ *member, err error) bool { return !isAnswer(err) })
	for _, m := range r.serving() {
		if !m.isAsked(r.key) { // as the lead is
			// An owner that has waited may have given back what it held.
			r.ask(m, wait, r.Held && (r.Apart || !r.told), answers)
			pending[m] = true
		}
	}
	granted := grants{lead}
	late := time.NewTimer(min(wait+r.store.config.timeout, time.Until(r.until)))
	defer late.Stop()
	for len(pending) > 0 {
		select {
		case got := <-answers:
			delete(pending, got.member)
			if got.err != nil {
				r.failed[got.member] = got.err
				if errors.Is(got.err, pathlock.ErrConflict) {
					r.refused = got.err
				}
				continue
			}
			if granted = append(granted, got); len(granted) == r.store.majority {
				late.Reset(min(r.store.config.timeout/linger, r.Lease/8, r.patience()))
			}
		case <-late.C:
			for m := range pending {
				if len(granted) < r.store.majority {
					r.noteSilent(m)
				}
			}
			return granted
		case <-r.ctx.Done():
			return granted
		}
	}
	return granted
}

// hopeless returns why no majority can grant the request any more, nil if one can.
func (r *request) hopeless() error {
	serving, lost := r.serving(), 0
	for _, m := range serving {
		if isLost(r.failed[m]) {
			lost++
		}
	}
	switch canceled := errors.Is(r.ctx.Err(), context.Canceled); {
	case canceled, r.ctx.Err() != nil && r.refused == nil:
		return r.interrupted()
	case lost >= r.store.majority, lost > 0 && (!r.Held || lost == len(serving)):
		return fmt.Errorf("quorum: %s: %w: owner %s holds nothing any more", r.operation(), pathlock.ErrLost, r.Owner.Short())
	case len(serving) < r.store.majority:
		return r.unavailable()
	default:
		return nil
	}
}
