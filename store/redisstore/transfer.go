package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Transfer implements [pathlock.Store]: one EVALSHA. An owner of the gate has lost
// everything in the tree if the gate's key is gone, or is somebody else's; otherwise the key
// becomes the new owner's. If the new owner already holds something in the tree, nothing changes
// and the error matches [pathlock.ErrInvalidRequest].
func (s *store) Transfer(ctx context.Context, t pathlock.Transfer) (pathlock.Transferred, error) {
	keys, what := s.keys.of(t.Tree), operation{Verb: "transfer", Tree: t.Tree, Owner: t.From}
	lease := "0"
	if t.Lease > 0 {
		lease = leaseTime(t.Lease)
	}
	got, err := do(ctx, s.calls, what, func(ctx context.Context) (reply, error) {
		return s.scripts.transfer.ask(ctx, s.client, keys, string(t.From), string(t.To), lease)
	})
	if err != nil {
		return pathlock.Transferred{}, err
	}
	switch got.status {
	case statusTransferred:
		return transferred(what, t.To, got)
	case statusLost:
		return pathlock.Transferred{}, fmt.Errorf("redisstore: %s: %w: the owner holds nothing any more", what, pathlock.ErrLost)
	case statusTaken:
		return pathlock.Transferred{}, fmt.Errorf("redisstore: %s: %w: owner %s holds something already",
			what, pathlock.ErrInvalidRequest, t.To.Short())
	default:
		return pathlock.Transferred{}, unavailable(what, fmt.Errorf("unexpected reply %q", got.status))
	}
}

// transferred reads a transfer's answer. The lease was written a little longer than requested (see
// [leaseTime]); what is left of it is reported without that.
func transferred(what operation, to pathlock.Owner, got reply) (pathlock.Transferred, error) {
	const head, each = 1, 6
	if len(got.rest) < head || (len(got.rest)-head)%each != 0 {
		return pathlock.Transferred{}, unavailable(what, fmt.Errorf("unexpected reply of %d strings", len(got.rest)))
	}
	left := time.Duration(got.number(0))*time.Millisecond - time.Millisecond
	out := pathlock.Transferred{Left: max(left, 0)}
	for f := range slices.Chunk(got.rest[head:], each) {
		e, err := decodeEntry(to, f[2], f[3], f[4])
		if err != nil {
			return pathlock.Transferred{}, unavailable(what, err)
		}
		fence, err := strconv.ParseUint(f[1], 10, 64)
		if err != nil {
			return pathlock.Transferred{}, unavailable(what, fmt.Errorf("a fence: %w", err))
		}
		out.Grants = append(out.Grants, pathlock.TransferredGrant{
			ID: pathlock.GrantID(f[0]), Gate: e.Gate, Claims: e.Claims, Note: e.Note, Fence: fence, Apart: f[5] == "1",
		})
	}
	slices.SortFunc(out.Grants, func(a, b pathlock.TransferredGrant) int { return cmp.Compare(a.Fence, b.Fence) })
	return out, nil
}
