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

// Release implements [pathlock.Store]: one EVALSHA, which also hands over to waiters. If the client
// sends it twice because a reply was lost, the second one finds nothing, which is no error.
func (s *store) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	return s.giveBack(ctx, tree, &s.scripts.release, operation{Verb: "release", Tree: tree, Owner: owner},
		&counted{value: string(owner)}, string(id))
}

// ForceRelease implements [pathlock.Store]. Requests of the owner that wait end with an error that
// matches [pathlock.ErrLost]. To take away a gate that another program took with redislock, pass
// the owner that Snapshot shows.
func (s *store) ForceRelease(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner) error {
	return s.giveBack(ctx, tree, &s.scripts.force, operation{Verb: "force release", Tree: tree, Owner: owner},
		&counted{value: string(owner)})
}

// giveBack calls a script that gives back what an owner has.
func (s *store) giveBack(ctx context.Context, tree pathlock.Tree, sc *script, what operation, owner *counted, args ...any) error {
	got, err := s.run(ctx, tree, sc, what, append([]any{owner}, args...)...)
	if err != nil {
		return err
	}
	if got.status != statusReleased && owner.writes.Load() <= 1 {
		return fmt.Errorf("%w: redis: %s", pathlock.ErrNotHeld, what)
	}
	return nil
}

// run calls a script about a tree, within the time that a call has.
func (s *store) run(ctx context.Context, tree pathlock.Tree, sc *script, what operation, args ...any) (reply, error) {
	keys := s.keys.of(tree)
	return do(ctx, s.calls, what, func(ctx context.Context) (reply, error) { return sc.ask(ctx, s.client, keys, args...) })
}

// withdraw takes a request out of the queue, or gives back what it was granted. If the request may
// still be on its way to the server, the server remembers for some time to grant it nothing.
func (s *store) withdraw(ctx context.Context, k requestKey, remember time.Duration) error {
	keys := s.keys.about(k)
	_, err := s.scripts.withdraw.ask(ctx, s.client, keys, string(k.owner), string(k.grant), milliseconds(remember))
	return err
}

// renewals is how many leases one script renews: enough that a call seldom needs a second script,
// few enough that none keeps the server from other work for long.
const renewals = 200

// Renew implements [pathlock.Store]: one EVALSHA for every 200 leases. An owner of the gate has
// lost everything in the tree if the gate's key is gone, or is somebody else's.
func (s *store) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	what := operation{Verb: "renew", Tree: tree}
	var lost []pathlock.Owner
	for portion := range slices.Chunk(leases, renewals) {
		args := make([]any, 0, 3*len(portion))
		for _, l := range portion {
			args = append(args, string(l.Owner), string(l.Grant), leaseTime(l.For))
		}
		got, err := s.run(ctx, tree, &s.scripts.renew, what, args...)
		if err != nil {
			return lost, err
		}
		for i := range got.rest {
			if at := got.number(i); at >= 1 && at <= uint64(len(portion)) {
				lost = append(lost, portion[at-1].Owner)
			}
		}
	}
	return lost, nil
}

// Transfer implements [pathlock.Store]: one EVALSHA. An owner of the gate has lost
// everything in the tree if the gate's key is gone, or is somebody else's; otherwise the key
// becomes the new owner's. If the new owner already holds something in the tree, nothing changes
// and the error matches [pathlock.ErrInvalidRequest].
func (s *store) Transfer(ctx context.Context, t pathlock.Transfer) (pathlock.Transferred, error) {
	what := operation{Verb: "transfer", Tree: t.Tree, Owner: t.From}
	lease := "0"
	if t.Lease > 0 {
		lease = leaseTime(t.Lease)
	}
	got, err := s.run(ctx, t.Tree, &s.scripts.transfer, what, string(t.From), string(t.To), lease)
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
