package quorum

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
)

// mostLate is how many times in a row a grant that came too late is asked for again.
const mostLate = 3

// Acquire implements [pathlock.Store]. The first member that serves decides the order, and a
// majority that it belongs to makes the grant: see "How it works" in the package's documentation.
// Where nobody is in the way, that is one round trip to all members at once.
//
// A [*pathlock.ConflictError] and a [*pathlock.DeadlockError] are those of a member. The error is a
// [*MajorityError] if no majority answers.
func (s *Store) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	if err := req.Validate(); err != nil {
		return pathlock.Grant{}, fmt.Errorf("quorum: %w", err)
	}
	if err := s.begin(); err != nil {
		return pathlock.Grant{}, err
	}
	defer s.running.Done()
	r := s.newRequest(ctx, req)
	var granted []place
	defer func() { r.end(granted) }()
	if r.ctx.Err() != nil {
		return pathlock.Grant{}, r.interrupted()
	}
	places, err := r.acquire()
	if err != nil {
		return pathlock.Grant{}, err
	}
	granted = places
	return pathlock.Grant{Fence: fence(places), Asked: s.asked(places)}, nil
}

// acquire asks the lead, and then the others, until a majority has granted the request or it has to
// end.
func (r *request) acquire() ([]place, error) {
	for late := 0; ; {
		lead, err := r.lead()
		if err != nil {
			return nil, err
		}
		places, err := r.follow(lead)
		switch {
		case err != nil:
			return nil, err
		case places == nil:
			r.giveBackAll()
			r.pause(lead.member.index)
			continue
		}
		asked := r.store.asked(places)
		if !ended(asked, r.Lease) {
			r.store.settleFence(r.ctx, places)
		}
		switch {
		case r.ctx.Err() != nil:
			return nil, r.interrupted()
		case !ended(asked, r.Lease):
			return places, nil
		}
		r.giveBackAll()
		if late++; late > mostLate {
			for _, p := range places {
				r.failed[p.member.index] = fmt.Errorf("the grant took longer to arrive than its lease of %v lasts", r.Lease)
			}
			return nil, r.unavailable()
		}
	}
}

// lead has the first member that serves grant the request, and returns the question. The order in
// which it grants is that of the queue.
func (r *request) lead() (*ask, error) {
	for {
		up := r.available()
		if len(up) < r.store.majority {
			if r.awaitBack() {
				continue
			}
			return nil, r.unavailable()
		}
		up = r.withHold(up)
		if len(up) == 0 {
			return nil, r.lost()
		}
		lead := r.add(up[0], r.remaining())
		if !r.Held && !r.store.isContended() {
			// The others are likely to grant what the lead grants. An owner that holds something
			// asks the lead first: a grant that is given back may have prolonged the lease of its
			// others.
			for _, m := range up[1:] {
				r.add(m, 0)
			}
		}
		if err := r.awaitLead(lead); err != nil {
			return nil, err
		}
		over, err := lead.outcome()
		if over && err == nil {
			return lead, nil
		}
		r.giveBackAll()
		switch {
		case r.ctx.Err() != nil && !isAnswer(err):
			return nil, r.interrupted()
		case !over || !isAnswer(err):
			r.failed[lead.member.index] = lead.member.whySilent() // the next one leads
		case errors.Is(err, pathlock.ErrConflict):
			r.store.noteContention()
			return nil, r.conflict(err)
		case !errors.Is(err, pathlock.ErrLost) || !r.Held:
			return nil, fmt.Errorf("quorum: %w", err)
		default:
			r.failed[lead.member.index] = err // the next one that has something of the owner's leads
			if err := r.confirm(nil); err != nil {
				return nil, err
			}
			r.without[lead.member.index] = true
		}
	}
}

// withHold returns the members that have something of the owner's, as far as is known, where it
// matters.
func (r *request) withHold(members []*member) []*member {
	var with []*member
	for _, m := range members {
		if !r.without[m.index] {
			with = append(with, m)
		}
	}
	return with
}

// awaitBack waits until a member answers again that was silent, for as long as it takes to look at
// all of them once more, and reports whether one does. A request that must not wait does not.
func (r *request) awaitBack() bool {
	back := r.store.cameBack()
	if len(r.available()) >= r.store.majority {
		return true
	}
	timer := time.NewTimer(min(2*r.store.config.timeout, r.remaining()))
	defer timer.Stop()
	select {
	case <-back:
		return true
	case <-timer.C:
	case <-r.ctx.Done():
	}
	return false
}

// awaitLead waits for the lead's answer. When it returns without one, the lead is silent.
func (r *request) awaitLead(lead *ask) error {
	for waits := false; ; {
		over, queued := lead.state()
		switch {
		case over:
			return nil
		case queued && !waits:
			waits = true
			r.store.noteContention()
			r.giveBackOthers(lead)
			if r.Held {
				if err := r.confirm(lead); err != nil {
					return err
				}
			}
			r.announce()
		}
		select {
		case <-r.news:
		case <-lead.member.lost():
			return nil
		}
	}
}

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

// confirm returns an error if a majority has nothing of the request's owner. If the request is in
// the lead's queue, the lead has found something. If that has gone by now, the owner has given it
// back, or the lead is about to say that it is lost: it is for the lead to tell.
func (r *request) confirm(queued *ask) error {
	const looks = 2 // a release that is under way may have come to some of the members
	for look := 1; ; look++ {
		seen := r.store.look(r.ctx, r.Tree, r.Owner, r.operation())
		has, lost := seen.count(released), seen.count(isLost)
		switch {
		case has >= r.store.majority, queued != nil && isLost(seen.all[queued.member.index].err):
			r.confirmed = true
			return nil
		case queued != nil && look < looks:
		case lost >= r.store.majority:
			return r.lost()
		case queued != nil:
			return nil // the lead has been found silent, or the context has ended
		case r.ctx.Err() != nil:
			return r.interrupted()
		default:
			return seen.unavailable(r.ctx)
		}
	}
}
