package pathlock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock/internal/lease"
)

// renewNow asks the store at once about what this locker holds for an owner in a tree, which is
// probably lost.
func (l *Locker) renewNow(tree Tree, owner Owner) {
	l.renewer.RenewNow(tree, func(h *holding) bool { return h.scope.owner == owner })
}

// renew renews leases of one tree, or asks how long one hold that is not renewed lasts. It notes
// the outcome for each.
func (l *Locker) renew(c *lease.Call[Tree, *holding]) {
	grants := make([][]*grant, len(c.Leases))
	for i, due := range c.Leases {
		grants[i] = due.Holder.currentGrants()
	}
	ctx, stop := context.WithTimeout(context.Background(), c.Patience)
	defer stop()
	c.Sent = time.Now()
	got, err := l.askToRenew(ctx, c, grants)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		// The call's own timeout would look like the end of the holder's context.
		err = fmt.Errorf("%w: no answer in time", ErrUnavailable)
	}
	for i, due := range c.Leases {
		switch owner := due.Holder.scope.owner; {
		case isDegraded(grants[i]):
			l.renewer.Answered(c, due, c.Lengths[i])
		case got.lost[owner]:
			due.Holder.lose(grants[i], errLeaseGone)
		case err != nil:
			if l.renewer.Failed(c, due, err) {
				l.log.WarnContext(ctx, "pathlock: renewal failed", "tree", c.Key, "owner", owner, "error", err)
			}
		default:
			l.renewer.Answered(c, due, got.left[owner])
		}
	}
}

// renewed is the store's answer to a renewal. If there is an error too, only the losses count.
type renewed struct {
	lost map[Owner]bool          // the owners that hold nothing any more
	left map[Owner]time.Duration // how long the others' leases last, from when the call was sent
}

// askToRenew sends the renewal. It leaves out degraded grants, which no store knows.
func (l *Locker) askToRenew(ctx context.Context, c *lease.Call[Tree, *holding], grants [][]*grant) (got renewed, err error) {
	if c.Leases[0].Fixed {
		return l.askForEnd(ctx, c.Key, c.Leases[0].Holder.scope.owner)
	}
	got.left = make(map[Owner]time.Duration, len(c.Leases))
	leases := make([]Lease, 0, len(c.Leases))
	for i, due := range c.Leases {
		if isDegraded(grants[i]) {
			continue
		}
		owner := due.Holder.scope.owner
		leases = append(leases, Lease{Owner: owner, Grant: due.Holder.apart, For: c.Lengths[i]})
		got.left[owner] = max(got.left[owner], c.Lengths[i])
	}
	if len(leases) == 0 {
		return got, nil
	}
	lost, err := l.store.Renew(ctx, c.Key, leases)
	got.lost = make(map[Owner]bool, len(lost))
	for _, owner := range lost {
		got.lost[owner] = true
	}
	return got, err
}

// askForEnd asks how long an attached hold lasts, without prolonging it.
func (l *Locker) askForEnd(ctx context.Context, tree Tree, owner Owner) (renewed, error) {
	switch got, err := l.store.Transfer(ctx, Transfer{Tree: tree, From: owner, To: owner}); {
	case errors.Is(err, ErrLost):
		return renewed{lost: map[Owner]bool{owner: true}}, nil
	case err != nil:
		return renewed{}, err
	default:
		return renewed{left: map[Owner]time.Duration{owner: got.Left}}, nil
	}
}
