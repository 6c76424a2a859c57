package quorum

import (
	"context"
	"fmt"

	"github.com/pathlock-go/pathlock"
)

// look asks all members whether an owner has something. It is a renewal that changes nothing, and
// the error of those that have nothing is pathlock.ErrLost.
func (s *Store) look(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, operation string) answers[struct{}] {
	p := poll[struct{}]{store: s, operation: operation}
	return p.ask(ctx, func(ctx context.Context, m *member) (struct{}, error) {
		lost, err := m.store.Renew(ctx, tree, []pathlock.Lease{{Owner: owner, For: 1}})
		if len(lost) > 0 {
			err = fmt.Errorf("%w: owner %s has nothing here", pathlock.ErrLost, owner.Short())
		}
		return struct{}{}, err
	})
}

// confirm returns an error unless a majority has something of the request's owner.
func (r *request) confirm() error {
	seen := r.store.look(r.ctx, r.Tree, r.Owner, r.operation())
	switch {
	case seen.count(released) >= r.store.majority:
		r.confirmed = true
		return nil
	case seen.count(isLost) >= r.store.majority:
		return r.lost()
	case r.ctx.Err() != nil:
		return r.interrupted()
	default:
		return seen.unavailable(r.ctx)
	}
}

// confirmQueued is confirm for a request in the lead's queue. The lead found something of the
// owner's. If that has gone by now, the owner has given it back, or the lead is about to say that
// it is lost: it is for the lead to tell.
func (r *request) confirmQueued(lead *ask) error {
	const looks = 2 // a release that is under way may have come to some of the members
	for look := 1; ; look++ {
		seen := r.store.look(r.ctx, r.Tree, r.Owner, r.operation())
		switch {
		case isLost(seen.all[lead.member.index].err), seen.count(released) >= r.store.majority:
			r.confirmed = true
			return nil
		case look < looks:
		case seen.count(isLost) >= r.store.majority:
			return r.lost()
		default:
			return nil // the lead has been found silent, or the context has ended
		}
	}
}

// lost returns the error of an owner that has lost what it builds on.
func (r *request) lost() error {
	return fmt.Errorf("quorum: %s: %w: owner %s holds nothing any more", r.operation(), pathlock.ErrLost, r.Owner.Short())
}
