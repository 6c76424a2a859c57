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
	granted := false
	defer func() { r.end(granted) }()
	if r.ctx.Err() != nil {
		return pathlock.Grant{}, r.interrupted()
	}
	grant, err := r.acquire()
	granted = err == nil
	return grant, err
}

// acquire asks the lead, and then the others, until the request is granted or has to end.
func (r *request) acquire() (pathlock.Grant, error) {
	for late := 0; ; {
		lead, err := r.lead()
		if err != nil {
			return pathlock.Grant{}, err
		}
		places, err := r.follow(lead)
		switch {
		case err != nil:
			return pathlock.Grant{}, err
		case places == nil:
			r.giveBackAll() // and begins anew
			continue
		}
		asked := r.store.asked(places)
		if !ended(asked, r.Lease) {
			r.store.settleFence(r.ctx, places)
		}
		switch {
		case r.ctx.Err() != nil:
			return pathlock.Grant{}, r.interrupted()
		case !ended(asked, r.Lease):
			r.store.granted.add(r.key, places, r.Lease)
			return pathlock.Grant{Fence: fence(places), Asked: asked}, nil
		}
		r.giveBackAll()
		if late++; late > mostLate {
			for _, p := range places {
				r.failed[p.member.index] = fmt.Errorf("the grant took longer to arrive than its lease of %v lasts", r.Lease)
			}
			return pathlock.Grant{}, r.unavailable()
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
		lead := r.add(up[0], r.remaining())
		if r.mayHurry(up) {
			for _, m := range up[1:] {
				r.add(m, 0)
			}
		}
		if err := r.awaitLead(lead); err != nil {
			return nil, err
		}
		over, err := lead.outcome()
		switch {
		case over && err == nil:
			return lead, nil
		case !over:
			err = errTimeout
		}
		if silent := !over || !isAnswer(err) && r.ctx.Err() == nil; silent {
			r.failed[lead.member.index] = err
			lead.member.silence(err) // the next one leads
			r.giveBackAll()
			continue
		}
		r.giveBackAll()
		switch {
		case !isAnswer(err):
			return nil, r.interrupted()
		case errors.Is(err, pathlock.ErrConflict):
			r.store.contended.add(r.Tree)
			return nil, r.conflict(err)
		case errors.Is(err, pathlock.ErrLost) && lead.held:
			if err := r.confirm(); err != nil {
				return nil, err
			}
			r.without[lead.member.index] = true
		default:
			return nil, fmt.Errorf("quorum: %w", err)
		}
	}
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

// mayHurry reports whether all members may be asked at once: where nobody had to wait lately, those
// that follow are likely to grant what the lead grants.
//
// An owner that holds something asks the lead first. A grant that has to be given back again may
// have prolonged the lease of its other grants.
func (r *request) mayHurry(up []*member) bool {
	return !r.Held && len(up) > 1 && !r.store.contended.has(r.Tree)
}

// awaitLead waits for the lead's answer. Only a place in the lead's queue is worth more than the
// time that a member has to answer. When it returns without an answer, the lead is silent.
func (r *request) awaitLead(lead *ask) error {
	patience := time.NewTimer(r.store.config.timeout)
	defer patience.Stop()
	gone, interrupted, waits := lead.member.lost(), r.ctx.Done(), false
	for {
		r.mu.Lock()
		over, queued := lead.over, lead.queued
		r.mu.Unlock()
		switch {
		case over:
			return nil
		case queued && !waits:
			waits = true
			patience.Stop()
			r.store.contended.add(r.Tree)
			r.giveBackOthers(lead)
			if lead.held && !r.confirmed {
				if err := r.confirmQueued(lead); err != nil {
					return err
				}
			}
			r.announce()
		}
		select {
		case <-r.news:
		case <-lead.done:
		case <-gone:
			return nil
		case <-patience.C:
			return nil
		case <-interrupted:
			// It is about to say how the wait ended.
			interrupted = nil
			patience.Reset(r.store.config.timeout)
		}
	}
}

// giveBackOthers gives up all questions but one.
func (r *request) giveBackOthers(but *ask) {
	r.mu.Lock()
	var others []*ask
	for _, a := range r.asks {
		if a != but {
			others = append(others, a)
		}
	}
	r.mu.Unlock()
	r.giveBack(others...)
}
