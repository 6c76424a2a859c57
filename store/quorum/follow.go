package quorum

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/pathlock-go/pathlock"
)

const (
	// longestRound is how long a request waits in the queues of those that follow before it lets go
	// what they have granted, and asks again.
	longestRound = 250 * time.Millisecond
	// shortestRound is that of a request that must not wait.
	shortestRound = 50 * time.Millisecond
	// grace is how long a request that has a majority waits for a release that is under way: the
	// more members have a grant, the more may fail.
	grace = 5 * time.Millisecond
	// mostRounds is how many rounds a lead that is not the first member of all is kept.
	mostRounds = 4
)

// follow has the other members grant what the lead has granted, and returns what a majority has. It
// returns none if the lead has to be given back, and asked anew.
//
// What is in the way there is about to go: somebody releases, or gives up. Members also queue
// requests of processes that another member leads because they do not reach the same ones. Then
// each may have a part of the members, and none a majority. So everybody lets go of the others
// after a while, and of a lead that is not the first after some more: in the end the first member
// decides.
func (r *request) follow(lead *ask) ([]place, error) {
	for round := 1; ; round++ {
		wait := r.round()
		r.tally() // what was refused at once is asked again
		for _, m := range r.unasked() {
			// Who has waited may have given back meanwhile what it held.
			r.add(m, wait, r.Held && (r.Apart || !lead.wasQueued()))
		}
		r.collect(wait)
		places := r.places()
		if len(places) >= r.store.majority {
			return places, nil
		}
		if err := r.over(); err != nil {
			return nil, err
		}
		if lead.member.index > 0 && round >= mostRounds || ended(lead.sent, r.Lease/2) && !lead.wasQueued() || ended(lead.came, r.Lease/2) {
			return nil, nil
		}
		r.giveBackOthers(lead)
		r.pause(lead.member.index)
	}
}

// round returns how long to wait in the queues of those that follow: less than a lease, since what
// has been granted is not renewed meanwhile. A request that must not wait gives a release that is
// under way the time to arrive.
func (r *request) round() time.Duration {
	longest := longestRound
	if r.Wait <= 0 {
		longest = shortestRound
	}
	return min(longest, max(r.Lease/8, time.Millisecond))
}

// collect waits until all have answered. When a majority has granted the request, it waits no
// longer than a part of the lease for the others, and for those that have queued it no longer than
// a release takes.
func (r *request) collect(wait time.Duration) {
	linger, releases := time.NewTimer(wait+r.store.config.timeout), time.NewTimer(wait+r.store.config.timeout)
	defer linger.Stop()
	defer releases.Stop()
	lingers, late, graced := false, false, false
	for {
		granted, queued, pending := r.tally()
		majority := granted >= r.store.majority
		switch {
		case majority && (len(pending) == 0 || late) && (len(queued) == 0 || graced):
			r.giveBack(queued...)
			for _, a := range pending {
				a.leave()
			}
			return
		case !majority && len(queued)+len(pending) == 0:
			return
		case majority && !lingers:
			lingers = true
			linger.Reset(min(r.store.config.timeout, r.Lease/8))
			releases.Reset(min(grace, r.Lease/8))
		case !majority && len(pending) == 0:
			r.announce()
		}
		select {
		case <-r.news:
		case <-r.ctx.Done():
			return
		case <-linger.C:
			late = true
		case <-releases.C:
			graced = true
		}
	}
}

// over returns why a request that no majority has granted has to end, nil if it goes on.
func (r *request) over() error {
	lost, refused := 0, error(nil)
	for i, err := range r.failed {
		switch {
		case r.store.members[i].whySilent() != nil:
		case errors.Is(err, pathlock.ErrLost):
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
		if lost == 0 && r.awaitBack() {
			return nil
		}
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
