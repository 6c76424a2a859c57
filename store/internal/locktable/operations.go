package locktable

import (
	"fmt"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

// The methods in this file are what a store does to a table. They happen at the time of
// [Table.Enter].

// Acquire grants req, refuses it, or queues it. A second call with the same owner and grant id gets
// the same request, and is a sign of life. A request that does not wait gets a conflict and never a
// deadlock.
func (t *Table) Acquire(req pathlock.Acquisition) (*Request, error) {
	o := t.owners[req.Owner]
	if o != nil {
		if r := o.grants.find(req.Grant); r != nil {
			t.leases.extend(r.lease(), t.now.Add(req.Lease))
			return r, nil
		}
		if r := o.waits.find(req.Grant); r != nil {
			if req.Wait <= 0 {
				return nil, t.conflictError(r, 0, nil)
			}
			t.Alive(r, req.Lease)
			return r, nil
		}
	}
	if req.Held && (o == nil || !o.holds()) {
		return nil, fmt.Errorf("%w: owner %s holds nothing in %s any more", pathlock.ErrLost, req.Owner.Short(), t.tree)
	}
	r := t.newRequest(o, &req, t.now)
	if err := t.decide(r, t.now); err != nil {
		t.tidy(r)
		t.reuse(r)
		return nil, err
	}
	if r.granted() {
		t.handOver(t.now, t.advance(r.owner))
	} else {
		t.enqueue(r)
	}
	return r, nil
}

// GiveUp takes a waiting request out of the queue.
func (t *Table) GiveUp(r *Request) { t.handOver(t.now, t.remove(r)) }

// Conflict says what is in the way of a waiting request. err may be nil.
func (t *Table) Conflict(r *Request, waited time.Duration, err error) error {
	return t.conflictError(r, waited, err)
}

// Find returns the request of an owner with an id, nil if it neither holds nor waits.
func (t *Table) Find(owner pathlock.Owner, id pathlock.GrantID) *Request {
	o := t.owners[owner]
	if o == nil {
		return nil
	}
	if r := o.grants.find(id); r != nil {
		return r
	}
	return o.waits.find(id)
}

// Release gives back one grant.
func (t *Table) Release(owner pathlock.Owner, id pathlock.GrantID) error {
	var r *Request
	if o := t.owners[owner]; o != nil {
		r = o.grants.find(id)
	}
	if r == nil {
		return fmt.Errorf("%w: grant %s of owner %s in %s", pathlock.ErrNotHeld, id, owner.Short(), t.tree)
	}
	t.handOver(t.now, t.remove(r))
	return nil
}

// Renew extends leases, and returns the owners that have none.
func (t *Table) Renew(renewals []pathlock.Lease) (lost []pathlock.Owner) {
	for _, l := range renewals {
		if e := t.leaseOf(l); e != nil {
			t.leases.extend(e, t.now.Add(l.For))
		} else {
			lost = append(lost, l.Owner)
		}
	}
	return lost
}

// leaseOf returns the lease to renew, nil if it has ended.
func (t *Table) leaseOf(l pathlock.Lease) *lease {
	o := t.owners[l.Owner]
	if o == nil || !o.holds() {
		return nil
	}
	if l.Grant == "" {
		return &o.lease
	}
	if r := o.grants.find(l.Grant); r != nil {
		return r.lease()
	}
	return nil
}

// ForceRelease takes away everything that an owner holds and waits for.
func (t *Table) ForceRelease(owner pathlock.Owner) error {
	o := t.owners[owner]
	if o == nil {
		return fmt.Errorf("%w: owner %s in %s", pathlock.ErrNotHeld, owner.Short(), t.tree)
	}
	reason := fmt.Errorf("%w: taken away from owner %s in %s", pathlock.ErrLost, owner.Short(), t.tree)
	t.handOver(t.now, t.evict(o, reason))
	return nil
}

// Snapshot returns what the table holds.
func (t *Table) Snapshot() pathlock.Snapshot {
	var granted, waiting []*Request
	for _, o := range t.owners {
		granted = slices.AppendSeq(granted, o.grants.all)
		waiting = slices.AppendSeq(waiting, o.waits.all)
	}
	slices.SortFunc(granted, byFence)
	slices.SortFunc(waiting, byArrival)
	return pathlock.Snapshot{Tree: t.tree, Fence: t.fence, Holders: describe(granted), Waiters: describe(waiting)}
}

// describe returns requests as a snapshot shows them.
func describe(requests []*Request) []pathlock.Entry {
	holds := make([]pathlock.Entry, 0, len(requests))
	for _, r := range requests {
		h := pathlock.Entry{
			Owner:    r.owner.id,
			Gate:     r.Gate,
			Detached: r.owner.id.Detached(),
			Claims:   r.claims(),
			Note:     r.Note,
			Fence:    r.fence,
			Since:    r.since,
			Until:    r.until,
		}
		if r.granted() {
			h.Until = r.ends()
		}
		holds = append(holds, h)
	}
	return holds
}
