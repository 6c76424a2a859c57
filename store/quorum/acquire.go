package quorum

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

const (
	// longestRound is how long a request waits in the queues of those that follow before it lets go
	// what they have granted, and asks again.
	longestRound = 100 * time.Millisecond
	// linger is how long a request that has a majority waits for the others, where a release may be
	// under way: the more members have a grant, the more may fail.
	linger = 50 * time.Millisecond
)

// Acquire implements [pathlock.Store]. The first member that serves decides the order, and a
// majority that it belongs to makes the grant: see "How it works" in the package's documentation.
//
// A [*pathlock.ConflictError] and a [*pathlock.DeadlockError] are those of a member. The error is a
// [*MajorityError] if no majority answers. A call that repeats another comes after that one's end.
func (s *Store) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	if err := s.begin(); err != nil {
		return pathlock.Grant{}, err
	}
	defer s.running.Done()
	r := s.newRequest(ctx, req)
	var granted []*ask
	defer func() { r.end(granted) }() // also where the caller's Waiting panics
	if r.ctx.Err() != nil {
		return pathlock.Grant{}, r.interrupted()
	}
	got, err := r.acquire()
	if err != nil {
		return pathlock.Grant{}, err
	}
	if s.settleFence(r.ctx, got); r.ctx.Err() != nil {
		return pathlock.Grant{}, r.interrupted()
	}
	granted = got
	return pathlock.Grant{Fence: fence(got), Asked: s.asked(got)}, nil
}

// acquire asks the lead, and then the others, until a majority has granted the request or it has to
// end.
//
// What is in the way at the others is about to go: somebody releases, or gives up. Members also
// queue requests of processes that another member leads because they do not reach the same ones.
// Then each may have a part of the members, and none a majority. So everybody lets go of the others
// after a round, and of a lead that is not the first, too: in the end the first member decides.
func (r *request) acquire() ([]*ask, error) {
	var lead *ask
	for {
		var err error
		if lead == nil {
			if lead, err = r.lead(); err != nil {
				return nil, err
			}
		}
		if granted := r.follow(lead); len(granted) >= r.store.majority {
			return granted, nil
		}
		if err := r.over(); err != nil {
			return nil, err
		}
		index := lead.member.index
		if index > 0 || time.Since(lead.grant.Asked) >= r.Lease/2 {
			lead = nil
		}
		r.giveBackAllBut(lead)
		r.pause(index)
	}
}

// lead has the first member that serves grant the request, and returns the question. The order in
// which it grants is that of the queue.
func (r *request) lead() (*ask, error) {
	for {
		serving := r.available()
		if len(serving) < r.store.majority {
			return nil, r.unavailable()
		}
		// A member that has nothing of the owner was away at its grants: the next one leads.
		holding := slices.DeleteFunc(slices.Clone(serving), func(m *member) bool { return isLost(r.failed[m.index]) })
		if len(serving)-len(holding) >= r.store.majority || len(holding) == 0 {
			return nil, r.lost()
		}
		lead := r.add(holding[0], r.remaining(), r.Held)
		err := r.awaitLead(lead)
		if err == nil {
			return lead, nil
		}
		r.giveBackAllBut(nil)
		switch {
		case r.ctx.Err() != nil && !isAnswer(err):
			return nil, r.interrupted()
		case !isAnswer(err), isLost(err) && r.Held:
			r.failed[lead.member.index] = err // the next one leads
		default:
			return nil, r.conflict(err)
		}
	}
}

// awaitLead returns the lead's answer, or why the lead has fallen silent.
func (r *request) awaitLead(lead *ask) error {
	for {
		over, queued, err := lead.state()
		switch {
		case over:
			return err
		case queued:
			r.announce()
		}
		select {
		case <-r.news:
		case <-lead.member.lost():
			return errTimeout
		}
	}
}

// follow has the other members grant what the lead has granted, and returns what is granted after
// one round.
func (r *request) follow(lead *ask) []*ask {
	wait := r.round()
	_, queued, _ := lead.state()
	for _, m := range r.unasked() {
		// Who has waited may have given back meanwhile what it held.
		r.add(m, wait, r.Held && (r.Apart || !queued))
	}
	return r.collect()
}

// round returns how long to wait in the queues of those that follow: less than a lease, since what
// has been granted is not renewed meanwhile. A request that must not wait gives a release that is
// under way that time to arrive.
func (r *request) round() time.Duration { return min(longestRound, max(r.Lease/8, time.Millisecond)) }

// collect waits until all have answered, or a majority has granted the request and the others take
// their time.
func (r *request) collect() []*ask {
	var late <-chan time.Time
	for {
		granted, queued, pending := r.tally()
		majority := len(granted) >= r.store.majority
		switch {
		case len(queued)+len(pending) == 0:
			return granted
		case majority && late == nil:
			late = time.After(min(linger, r.Lease/8))
		case !majority && len(pending) == 0:
			r.announce()
		}
		select {
		case <-r.news:
		case <-r.ctx.Done():
			return granted
		case <-late:
			r.giveBack(slices.Concat(queued, pending))
			return granted
		}
	}
}

// over returns why a request that no majority has granted has to end, nil if it goes on.
func (r *request) over() error {
	lost, refused := 0, error(nil)
	for i, err := range r.failed {
		switch {
		case r.store.members[i].whySilent() != nil:
		case isLost(err):
			lost++
		case errors.Is(err, pathlock.ErrConflict):
			refused = err
		}
	}
	switch {
	case r.store.life.Err() != nil, errors.Is(r.ctx.Err(), context.Canceled), r.ctx.Err() != nil && refused == nil:
		return r.interrupted()
	case lost > 0 && !r.Held, lost >= r.store.majority:
		return r.lost()
	case len(r.available())-lost < r.store.majority:
		return r.unavailable()
	case r.ctx.Err() != nil || r.remaining() == 0 && time.Since(r.began) > r.round():
		if refused == nil {
			return r.unavailable()
		}
		return r.conflict(refused)
	}
	return nil
}

// pause lets others go ahead, for a random time that is longer for those whose lead comes later.
func (r *request) pause(index int) {
	timer := time.NewTimer(rand.N(r.round()/8+time.Millisecond) * time.Duration(1+index))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.ctx.Done():
	}
}
