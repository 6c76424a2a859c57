package locktable

import (
	"fmt"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Transfer gives what one owner holds to another and sets the end of the lease. The error matches
// [pathlock.ErrInvalidRequest] if To is another owner and takes part in the tree already while From
// holds something.
func (t *Table) Transfer(tr pathlock.Transfer) (pathlock.Transferred, error) {
	now := t.now
	from, to := t.owners[tr.From], t.owners[tr.To]
	switch {
	case from != nil && from.holds():
	case to != nil && to.holds():
		// The transfer was sent again. The first one did everything.
		return to.transferred(now), nil
	default:
		return pathlock.Transferred{}, fmt.Errorf("%w: owner %s holds nothing in %s any more", pathlock.ErrLost, tr.From.Short(), t.tree)
	}
	if tr.From != tr.To {
		if to != nil {
			return pathlock.Transferred{}, fmt.Errorf("%w: a transfer to owner %s, who takes part in %s already", pathlock.ErrInvalidRequest, tr.To.Short(), t.tree)
		}
		to = t.succeed(from, tr.To)
		t.handOver(now, nil)
	}
	if tr.Lease > 0 {
		t.leases.set(&to.lease, now.Add(tr.Lease))
	}
	return to.transferred(now), nil
}

// succeed makes an owner of what from holds. The waiting requests stay with from.
func (t *Table) succeed(from *owner, id pathlock.Owner) *owner {
	to := t.newOwner(id)
	to.grants = from.grants
	for r := range to.grants.all {
		t.share(r)
		r.owner, r.Owner = to, id
	}
	if from.waits.newest != nil {
		t.stale = t.stale || t.passers > 0
	}
	from.grants = requests{}
	t.endConversions(from)
	from.rest(false)
	t.owners[id] = to
	t.leases.remove(&from.lease)
	t.leases.extend(&to.lease, from.lease.until)
	if from.waits.newest == nil {
		delete(t.owners, from.id)
	}
	return to
}

// transferred describes what an owner holds.
func (o *owner) transferred(now time.Time) pathlock.Transferred {
	granted := slices.SortedFunc(o.grants.all, byFence)
	answer := pathlock.Transferred{Left: o.lease.until.Sub(now), Grants: make([]pathlock.TransferredGrant, 0, len(granted))}
	for _, r := range granted {
		answer.Grants = append(answer.Grants, pathlock.TransferredGrant{
			ID: r.Grant, Gate: r.Gate, Claims: r.claims(), Note: r.Note, Fence: r.fence,
			Apart: r.apartLease != nil,
		})
	}
	return answer
}

// claims returns a copy of r's claim set.
func (r *Request) claims() []pathlock.Claim {
	set := make([]pathlock.Claim, 0, len(r.places)-1)
	for _, p := range r.places[1:] {
		set = append(set, p.Claim)
	}
	return set
}
