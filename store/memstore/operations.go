package memstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock"
)

// The methods in this file are what a store does to one table. They expect mu to be unlocked,
// except for leaseOf and snapshot.

// acquire grants req, refuses it, or queues it and returns the attempt to await.
func (t *table) acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, *attempt, error) {
	now := t.enter()
	defer t.leave()
	o := t.owners[req.Owner]
	if o != nil {
		if r := o.grants.find(req.Grant); r != nil {
			t.leases.extend(r.lease(), now.Add(req.Lease))
			return pathlock.Grant{Fence: r.fence, Asked: now}, nil, nil
		}
		if r := o.waits.find(req.Grant); r != nil {
			if req.Wait <= 0 {
				return pathlock.Grant{}, nil, t.conflictError(r, 0, nil)
			}
			return pathlock.Grant{}, t.newAttempt(ctx, r, now, req.Wait), nil
		}
	}
	if req.Held && (o == nil || !o.holds()) {
		return pathlock.Grant{}, nil, fmt.Errorf("%w: owner %s holds nothing in %s any more", pathlock.ErrLost, req.Owner.Short(), t.tree)
	}
	r := t.newRequest(o, &req, now)
	if err := t.decide(r, now); err != nil {
		t.tidy(r)
		t.reuse(r)
		return pathlock.Grant{}, nil, err
	}
	if r.granted() {
		t.handOver(now, t.advance(r.owner))
		return r.grant(), nil, nil
	}
	t.enqueue(r)
	return pathlock.Grant{}, t.newAttempt(ctx, r, now, req.Wait), nil
}

// release gives back one grant.
func (t *table) release(id pathlock.Owner, grant pathlock.GrantID) error {
	now := t.enter()
	defer t.leave()
	var r *request
	if o := t.owners[id]; o != nil {
		r = o.grants.find(grant)
	}
	if r == nil {
		return fmt.Errorf("%w: grant %s of owner %s in %s", pathlock.ErrNotHeld, grant, id.Short(), t.tree)
	}
	t.handOver(now, t.remove(r))
	return nil
}

// renew extends leases, and returns the owners that have none.
func (t *table) renew(renewals []pathlock.Lease) (lost []pathlock.Owner) {
	now := t.enter()
	defer t.leave()
	for _, l := range renewals {
		if e := t.leaseOf(l); e != nil {
			t.leases.extend(e, now.Add(l.For))
		} else {
			lost = append(lost, l.Owner)
		}
	}
	return lost
}

// leaseOf returns the lease to renew, nil if it has ended.
func (t *table) leaseOf(l pathlock.Lease) *lease {
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

// forceRelease takes away everything that an owner holds and waits for.
func (t *table) forceRelease(id pathlock.Owner) error {
	now := t.enter()
	defer t.leave()
	o := t.owners[id]
	if o == nil {
		return fmt.Errorf("%w: owner %s in %s", pathlock.ErrNotHeld, id.Short(), t.tree)
	}
	reason := fmt.Errorf("%w: taken away from owner %s in %s", pathlock.ErrLost, id.Short(), t.tree)
	t.handOver(now, t.evict(o, reason))
	return nil
}

// snapshot returns what the table holds.
func (t *table) snapshot() pathlock.Snapshot {
	var granted, waiting []*request
	for _, o := range t.owners {
		granted = slices.AppendSeq(granted, o.grants.all)
		waiting = slices.AppendSeq(waiting, o.waits.all)
	}
	slices.SortFunc(granted, byFence)
	slices.SortFunc(waiting, byArrival)
	return pathlock.Snapshot{Tree: t.tree, Fence: t.fence, Holders: describe(granted), Waiters: describe(waiting)}
}

// describe returns requests as a snapshot shows them.
func describe(requests []*request) []pathlock.Hold {
	holds := make([]pathlock.Hold, 0, len(requests))
	for _, r := range requests {
		h := pathlock.Hold{
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

func byFence(a, b *request) int { return cmp.Compare(a.fence, b.fence) }
