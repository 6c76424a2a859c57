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
		return t, source.lease, nil
	}
	l, err := a.lease(ctx, t)
	if err != nil {
		return t, 0, err
	}
	t.Home = a.b.home
	if isHold(t) {
		t.Home = a.b.homeOfHold(l, until.Sub(a.now))
	}
	a.restore(&t, rec)
	if last := a.u.used[l]; last.Before(until) {
		a.u.used[l] = until
	}
	return t, l.id, nil
}

// source returns the ticket that was read with the same end as t, if its lease serves t, too. It is
// t itself if possible, or another one of the owner.
func (a *attaching) source(t ticketstore.Ticket, rec *record) *record {
	serves := func(r *record) bool { return isHold(t) == r.isHold() && r.shown.Until.Equal(t.Until) }
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

// restore puts the times back that have stood in for those that were read: see backend.show.
func (a *attaching) restore(t *ticketstore.Ticket, rec *record) {
	var shown, stored ticketstore.Ticket
	if rec != nil {
		shown, stored = rec.shown, rec.stored
	}
	t.Until = a.original(*t, t.Until, shown.Until, stored.Until)
	t.OwnerUntil = a.original(*t, t.OwnerUntil, shown.OwnerUntil, stored.OwnerUntil)
	if rec != nil && t.WaitUntil.Equal(shown.WaitUntil) {
		t.WaitUntil = stored.WaitUntil
	}
}

// original returns the time that was stored where at has been shown.
func (a *attaching) original(t ticketstore.Ticket, at, shown, stored time.Time) time.Time {
	switch {
	case at.IsZero():
		return at
	case !stored.IsZero() && at.Equal(shown):
		return stored
	case !at.Equal(a.now.Add(standIn)):
		return at
	}
	// The end of another ticket of the owner.
	latest := time.Time{}
	for _, r := range a.r.records {
		if r.stored.Owner == t.Owner && r.stored.Home == t.Home {
			if r.stored.Until.After(latest) && r.shown.Until.Equal(at) {
				latest = r.stored.Until
			}
		}
	}
	if latest.IsZero() {
		return at
	}
	return latest
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
		if r.isHold() && r.stored.Owner == t.Owner {
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
