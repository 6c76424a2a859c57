package quorum

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
		// A member that has nothing of the owner was away at its grants: the next one leads.
		lost := r.lostBy()
		up = slices.DeleteFunc(up, func(m *member) bool { return lost[m.index] })
		if len(lost) >= r.store.majority || len(up) == 0 {
			return nil, r.lost()
		}
		lead := r.add(up[0], r.remaining(), r.Held)
		r.awaitLead(lead)
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
			return nil, r.conflict(err)
		case !errors.Is(err, pathlock.ErrLost) || !r.Held:
			return nil, fmt.Errorf("quorum: %w", err)
		default:
			r.failed[lead.member.index] = err
		}
	}
}

// lostBy returns the members that have nothing of the owner's.
func (r *request) lostBy() map[int]bool {
	lost := make(map[int]bool)
	for i, err := range r.failed {
		if isLost(err) && r.store.members[i].whySilent() == nil {
			lost[i] = true
		}
	}
	return lost
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
func (r *request) awaitLead(lead *ask) {
	for waits := false; ; {
		over, queued := lead.state()
		switch {
		case over:
			return
		case queued && !waits:
			waits = true
			r.announce()
		}
		select {
		case <-r.news:
		case <-lead.member.lost():
			return
		}
	}
}
