package etcdstore

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// attaching chooses the etcd leases of the tickets that an update writes.
type attaching struct {
	b   *backend
	r   *reading
	now time.Time
	u   *update
	// holds are the leases of the detached holds that the update writes, by owner.
	holds map[pathlock.Owner]*lease
}

func (b *backend) newAttaching(r *reading, now time.Time, u *update) *attaching {
	return &attaching{b: b, r: r, now: now, u: u, holds: map[pathlock.Owner]*lease{}}
}

// attach returns a ticket as it is to be written, and the etcd lease that it is attached to. rec is
// what was read of it, nil if it is new.
//
// A ticket whose end is one that was read stays with the process and the lease of that end: that is
// how a process grants to a waiter of another one, and gives it no longer to live. A new end is by
// this process's clock and comes from this process's lease.
func (a *attaching) attach(ctx context.Context, t ticketstore.Ticket, rec *record) (ticketstore.Ticket, clientv3.LeaseID, error) {
	until := t.Until
	if source := a.source(t, rec); source != nil {
		t.Home = source.stored.Home
		a.restore(&t, rec)
		a.u.kept[a.b.keys.ticket(a.r.tree, t.Place)] = source
		return t, source.lease, nil
	}
	l, err := a.lease(ctx, t)
	if err != nil {
		return t, 0, err
	}
	t.Home = a.b.homeFor(until.Sub(a.now))
	a.restore(&t, rec)
	if last := a.u.used[l]; last.Before(until) {
		a.u.used[l] = until
	}
	return t, l.id, nil
}

// source returns the ticket that was read with the same end as t, if its lease serves t, too. It is
// t itself if possible, or another one of the owner.
func (a *attaching) source(t ticketstore.Ticket, rec *record) *record {
	serves := func(r *record) bool { return isHold(t) == isHold(r.stored) && r.shown.Until.Equal(t.Until) }
	if rec != nil && serves(rec) {
		return rec
	}
	for _, r := range a.r.records {
		if r.stored.Owner == t.Owner && serves(r) {
			return r
		}
	}
	return nil
}

// restore puts the times back that were shown in place of those that were read: see backend.state.
func (a *attaching) restore(t *ticketstore.Ticket, rec *record) {
	if rec != nil && t.WaitUntil.Equal(rec.shown.WaitUntil) {
		t.WaitUntil = rec.stored.WaitUntil
	}
	t.Until = a.original(t.Owner, t.Until, rec)
	t.OwnerUntil = a.original(t.Owner, t.OwnerUntil, rec)
}

// original returns the end that was read where at was shown, in the ticket itself or in another one
// of the owner.
func (a *attaching) original(owner pathlock.Owner, at time.Time, rec *record) time.Time {
	if at.IsZero() {
		return at
	}
	if rec != nil {
		if end, ok := rec.original(at); ok {
			return end
		}
	}
	for _, r := range a.r.records {
		if r.stored.Owner == owner {
			if end, ok := r.original(at); ok {
				return end
			}
		}
	}
	return at
}

// original returns the end that was read where at was shown.
func (r *record) original(at time.Time) (end time.Time, ok bool) {
	switch {
	case r.shown.OwnerUntil.Equal(at):
		return r.stored.OwnerUntil, true
	case r.shown.Until.Equal(at):
		return r.stored.Until, true
	default:
		return at, false
	}
}

// lease returns the etcd lease for a ticket that this process gives a new end.
func (a *attaching) lease(ctx context.Context, t ticketstore.Ticket) (*lease, error) {
	d := t.Until.Sub(a.now)
	if !isHold(t) {
		return a.b.leases.ofProcess(ctx, d)
	}
	if l := a.holds[t.Owner]; l != nil {
		return l, nil
	}
	for _, r := range a.r.records {
		if isHold(r.stored) && r.stored.Owner == t.Owner {
			if l := a.b.leases.known(r.lease, d); l != nil {
				a.holds[t.Owner] = l
				return l, nil
			}
		}
	}
	l, err := a.b.leases.ofHold(ctx, d)
	if err != nil {
		return nil, err
	}
	a.holds[t.Owner] = l
	a.u.made = append(a.u.made, l)
	return l, nil
}
