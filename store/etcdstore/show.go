package etcdstore

import (
	"context"
	"time"

	"go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// endless is how far in the future the end of a wait is that is not this process's to end.
const endless = time.Minute

// etcdPrecision is how exactly etcd says how long a lease has left, with what the answer takes.
const etcdPrecision = time.Second + 100*time.Millisecond

// state returns what a reading shows to this process now.
//
// A ticket's times are by its home's clock, and clocks differ. So a ticket of another process does
// not end because of a time in it, if that is not sure to have come: see sightings. What is shown
// instead is never written.
func (b *backend) state(ctx context.Context, r *reading) (ticketstore.State, error) {
	ends, err := b.ends(ctx, r)
	if err != nil {
		return ticketstore.State{}, err
	}
	// Leases count from here on.
	s := ticketstore.State{Began: time.Now(), Now: b.clock.now(), Fence: r.guard.Fence, Floor: uint64(max(r.revision, 0))}
	shared := b.sharedEnds(r, s.Now)
	for _, rec := range r.records {
		rec.shown = rec.stored
		switch t := &rec.shown; {
		case b.isHome(rec.stored):
		case isHold(rec.stored):
			t.Until = endOfHold(rec.stored, ends[rec.lease])
			t.OwnerUntil = t.Until
		default:
			end, ok := shared[t.Owner]
			if !ok || !sharesLease(rec.stored) {
				end = b.latestEnd(r.tree, rec, s.Now)
			}
			t.Until = plausible(t.Until, end, s.Now)
			if !t.OwnerUntil.IsZero() {
				if ok {
					end = shared[t.Owner]
				}
				t.OwnerUntil = plausible(t.OwnerUntil, end, s.Now)
			}
			if !t.WaitUntil.IsZero() && !t.WaitUntil.After(s.Now) {
				t.WaitUntil = s.Now.Add(endless)
			}
		}
		s.Tickets = append(s.Tickets, rec.shown)
	}
	return s, nil
}

// latestEnd returns the moment, by this process's clock, at which a ticket of another process has
// ended for sure, unless it is written again.
func (b *backend) latestEnd(tree pathlock.Tree, rec *record, now time.Time) time.Time {
	return b.sightings.first(tree, rec, now).Add(givenLease(rec.stored))
}

// sharesLease reports whether a ticket lives by the lease that the grants of its owner share.
func sharesLease(t ticketstore.Ticket) bool { return t.State == ticketstore.Granted && !t.Apart }

// sharedEnds returns the latest ends of the leases that the grants of owners share. Those that this
// process has written itself it knows.
func (b *backend) sharedEnds(r *reading, now time.Time) map[pathlock.Owner]time.Time {
	ends := map[pathlock.Owner]time.Time{}
	for _, rec := range r.records {
		if !sharesLease(rec.stored) {
			continue
		}
		end := rec.stored.OwnerUntil
		if !b.isHome(rec.stored) {
			end = b.latestEnd(r.tree, rec, now)
		}
		if end.After(ends[rec.stored.Owner]) {
			ends[rec.stored.Owner] = end
		}
	}
	return ends
}

// plausible returns when a ticket of another process ends: at the time that is in it, or at the
// latest possible moment if that time has passed here, or is later.
func plausible(written, latest, now time.Time) time.Time {
	if written.After(now) && !written.After(latest) {
		return written
	}
	return latest
}

// ends returns before when etcd does not end the leases of the detached holds of other processes.
func (b *backend) ends(ctx context.Context, r *reading) (map[clientv3.LeaseID]time.Time, error) {
	ends := map[clientv3.LeaseID]time.Time{}
	for _, rec := range r.records {
		if _, ok := ends[rec.lease]; ok || !isHold(rec.stored) || b.isHome(rec.stored) {
			continue
		}
		end, length, err := b.leases.endOf(ctx, rec.lease)
		if err != nil {
			return nil, err
		}
		// etcd's lease is longer than the hold's.
		ends[rec.lease] = end.Add(givenLease(rec.stored) - length)
	}
	return ends, nil
}

// endOfHold returns when a detached hold ends: at the time that is in it, unless the clocks differ
// so much that it cannot be. Before end, etcd does not end it.
func endOfHold(t ticketstore.Ticket, end time.Time) time.Time {
	if latest := end.Add(etcdPrecision); t.Until.Before(end) || t.Until.After(latest) {
		return latest
	}
	return t.Until
}
