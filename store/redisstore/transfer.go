package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Transfer implements [pathlock.TransferStore]: one EVALSHA. An owner that has the gate has lost
// everything in the tree if the gate's key is gone or another's. Its key is the new owner's from
// then on. If the new owner holds something of its own in the tree, nothing changes and the error
// matches [pathlock.ErrInvalidRequest].
func (s *Store) Transfer(ctx context.Context, t pathlock.Transfer) (pathlock.Transferred, error) {
	if err := t.Validate(); err != nil {
		return pathlock.Transferred{}, fmt.Errorf("redisstore: %w", err)
	}
	keys, what := s.keys.of(t.Tree), operation{"transfer", t.Tree, t.From}
	lease := "0"
	if t.Lease > 0 {
		lease = leaseTime(t.Lease)
	}
	got, err := call(ctx, s, what, func(ctx context.Context) (reply, error) {
		return s.scripts.transfer.ask(ctx, s.runner, keys, string(t.From), string(t.To), lease)
	}, nil)
	if err != nil {
		return pathlock.Transferred{}, err
	}
	if got.more() {
		s.proceedLater(ctx, keys)
	}
	switch got.status {
	case "transferred":
		return transferred(what, t.To, got)
	case "lost":
		return pathlock.Transferred{}, fmt.Errorf("redisstore: %s: %w: the owner holds nothing any more", what, pathlock.ErrLost)
	case "taken":
		return pathlock.Transferred{}, fmt.Errorf("redisstore: %s: %w: owner %s holds something already",
			what, pathlock.ErrInvalidRequest, t.To.Short())
	default:
		return pathlock.Transferred{}, unavailable(what, fmt.Errorf("unexpected reply %q", got.status))
	}
}

// transferred reads a transfer's answer. The lease was written a little longer than it was asked
// for (see [leaseTime]): what is left of it is told without that.
func transferred(what operation, to pathlock.Owner, got reply) (pathlock.Transferred, error) {
	holds, err := decodeGrants(to, got.text(2), time.Time{})
	if err != nil {
		return pathlock.Transferred{}, unavailable(what, err)
	}
	left := time.Duration(got.number(1))*time.Millisecond - time.Millisecond
	out := pathlock.Transferred{Left: max(left, 0)}
	apart := got.text(3)
	if len(apart) != len(holds) {
		return pathlock.Transferred{}, unavailable(what, fmt.Errorf("%d grants, of which %q are apart", len(holds), apart))
	}
	for i, h := range holds {
		out.Grants = append(out.Grants, pathlock.TransferredGrant{
			ID: h.id, Gate: h.Gate, Claims: h.Claims, Note: h.Note, Fence: h.Fence, Apart: apart[i] == '1',
		})
	}
	slices.SortFunc(out.Grants, func(a, b pathlock.TransferredGrant) int { return cmp.Compare(a.Fence, b.Fence) })
	return out, nil
}
