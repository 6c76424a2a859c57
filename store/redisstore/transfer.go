package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/redisstore/internal/calls"
	"github.com/pathlock-go/pathlock/store/redisstore/internal/lua"
)

// Transfer implements [pathlock.Store]: one EVALSHA. An owner of the gate has lost
// everything in the tree if the gate's key is gone, or is somebody else's; otherwise the key
// becomes the new owner's. If the new owner already holds something in the tree, nothing changes
// and the error matches [pathlock.ErrInvalidRequest].
func (s *Store) Transfer(ctx context.Context, t pathlock.Transfer) (pathlock.Transferred, error) {
	if err := t.Validate(); err != nil {
		return pathlock.Transferred{}, fmt.Errorf("redisstore: %w", err)
	}
	keys, what := s.keys.of(t.Tree), calls.Operation{Verb: "transfer", Tree: t.Tree, Owner: t.From}
	lease := "0"
	if t.Lease > 0 {
		lease = leaseTime(t.Lease)
	}
	got, err := calls.Do(ctx, s.calls, what, func(ctx context.Context) (lua.Reply, error) {
		return s.scripts.transfer.Ask(ctx, s.client, keys, string(t.From), string(t.To), lease)
	})
	if err != nil {
		return pathlock.Transferred{}, err
	}
	switch got.Status {
	case statusTransferred:
		return transferred(what, t.To, got)
	case statusLost:
		return pathlock.Transferred{}, fmt.Errorf("redisstore: %s: %w: the owner holds nothing any more", what, pathlock.ErrLost)
	case statusTaken:
		return pathlock.Transferred{}, fmt.Errorf("redisstore: %s: %w: owner %s holds something already",
			what, pathlock.ErrInvalidRequest, t.To.Short())
	default:
		return pathlock.Transferred{}, calls.Unavailable(what, fmt.Errorf("unexpected reply %q", got.Status))
	}
}

// transferred reads a transfer's answer. The lease was written a little longer than requested (see
// [leaseTime]); what is left of it is reported without that.
func transferred(what calls.Operation, to pathlock.Owner, got lua.Reply) (pathlock.Transferred, error) {
	holds, err := decodeGrants(to, got.Text(1), time.Time{})
	if err != nil {
		return pathlock.Transferred{}, calls.Unavailable(what, err)
	}
	left := time.Duration(got.Number(0))*time.Millisecond - time.Millisecond
	out := pathlock.Transferred{Left: max(left, 0)}
	apart := got.Text(2)
	if len(apart) != len(holds) {
		return pathlock.Transferred{}, calls.Unavailable(what, fmt.Errorf("%d grants, of which %q are apart", len(holds), apart))
	}
	for i, h := range holds {
		out.Grants = append(out.Grants, pathlock.TransferredGrant{
			ID: h.id, Gate: h.Gate, Claims: h.Claims, Note: h.Note, Fence: h.Fence, Apart: apart[i] == '1',
		})
	}
	slices.SortFunc(out.Grants, func(a, b pathlock.TransferredGrant) int { return cmp.Compare(a.Fence, b.Fence) })
	return out, nil
}
