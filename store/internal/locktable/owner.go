package locktable

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/queue"
)

// owner is one owner's part in a table. It exists while the owner holds or waits there.
type owner struct {
	queue.Owner
	id pathlock.Owner
	// until is the end of the lease that the grants share, but for those that are apart; zero if
	// there is none.
	until time.Time
}

// ownerOf returns an owner, a new one if it takes no part in the tree.
func (t *Table) ownerOf(id pathlock.Owner) *owner {
	if o := t.owners[id]; o != nil {
		return o
	}
	o := t.spareOwner
	if t.spareOwner = nil; o == nil {
		o = new(owner)
	}
	o.id = id
	t.owners[id] = o
	return o
}

// shares reports whether the owner has a grant that is not apart.
func (o *owner) shares() bool {
	return slices.ContainsFunc(o.Grants, func(q *queue.Request) bool { return !of(q).apart })
}

// Transfer gives what one owner holds to another and sets the end of the lease. The error matches
// [pathlock.ErrInvalidRequest] if To is another owner and takes part in the tree already while From
// holds something.
func (t *Table) Transfer(tr pathlock.Transfer) (pathlock.Transferred, error) {
	from, to := t.owners[tr.From], t.owners[tr.To]
	switch {
	case from != nil && from.Holds():
	case to != nil && to.Holds():
		// The transfer was sent again. The first one did everything.
		return t.transferred(to), nil
	default:
		return pathlock.Transferred{}, fmt.Errorf("%w: owner %s holds nothing in %s any more", pathlock.ErrLost, tr.From.Short(), t.tree)
	}
	if tr.From != tr.To {
		if to != nil {
			return pathlock.Transferred{}, fmt.Errorf("%w: a transfer to owner %s, who takes part in the tree already", pathlock.ErrInvalidRequest, tr.To.Short())
		}
		to = t.succeed(from, tr.To)
		t.queue.Settle(nil)
	}
	if tr.Lease > 0 {
		t.set(&to.until, t.ending(tr.Lease))
	}
	return t.transferred(to), nil
}

// succeed makes an owner of what from holds. The waiting requests stay with from.
func (t *Table) succeed(from *owner, id pathlock.Owner) *owner {
	to := t.ownerOf(id)
	t.queue.Move(&from.Owner, &to.Owner)
	for _, q := range to.Grants {
		r := of(q)
		r.owner, r.Owner, r.apart, r.until = to, id, false, time.Time{}
	}
	to.until, from.until = from.until, time.Time{}
	if len(from.Waits) == 0 {
		delete(t.owners, from.id)
	}
	return to
}

// transferred describes what an owner holds.
func (t *Table) transferred(o *owner) pathlock.Transferred {
	answer := pathlock.Transferred{Left: o.until.Sub(t.now) - t.ClockError, Grants: make([]pathlock.TransferredGrant, 0, len(o.Grants))}
	for _, q := range o.Grants {
		r := of(q)
		answer.Grants = append(answer.Grants, pathlock.TransferredGrant{
			ID: r.Grant, Gate: r.Gate, Claims: slices.Clone(r.Claims), Note: r.Note, Fence: r.fence,
			Apart: r.apart,
		})
	}
	slices.SortFunc(answer.Grants, func(a, b pathlock.TransferredGrant) int { return cmp.Compare(a.Fence, b.Fence) })
	return answer
}
