package redisstore

import (
	"context"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Release implements [pathlock.Store]: one EVALSHA, which also hands over to waiters. If the client
// sent it twice because a reply was lost, it is no error that the second one finds nothing.
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
	keys := s.keys.of(tree)
	got, err := do(ctx, s.calls, what, func(ctx context.Context) (reply, error) {
		return sc.ask(ctx, s.client, keys, append([]any{owner}, args...)...)
	})
	if err != nil {
		return err
	}
	if got.status != statusReleased && !owner.again() {
		return notHeld(what)
	}
	return nil
}

// withdraw takes a request out of the queue, or gives back what it was granted. Where it may be on
// its way to the server still, the server remembers for some time that it is to grant the request
// nothing.
func (s *store) withdraw(ctx context.Context, k requestKey, remember time.Duration) error {
	keys := s.keys.about(k)
	got, err := s.scripts.withdraw.ask(ctx, s.client, keys, string(k.owner), string(k.grant), milliseconds(remember))
	if err == nil && got.status == statusGranted {
		_, err = s.scripts.release.ask(ctx, s.client, keys, string(k.owner), string(k.grant))
	}
	return err
}

// renewals is how many leases one script renews: enough that a call seldom needs a second script,
// few enough that none keeps the server from other work for long.
const renewals = 200

// Renew implements [pathlock.Store]: one EVALSHA for every 200 leases. An owner of the gate has
// lost everything in the tree if the gate's key is gone, or is somebody else's.
func (s *store) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	keys := s.keys.of(tree)
	what := operation{Verb: "renew", Tree: tree}
	var lost []pathlock.Owner
	for portion := range slices.Chunk(leases, renewals) {
		args := make([]any, 0, 3*len(portion))
		for _, l := range portion {
			args = append(args, string(l.Owner), string(l.Grant), leaseTime(l.For))
		}
		got, err := do(ctx, s.calls, what, func(ctx context.Context) (reply, error) {
			return s.scripts.renew.ask(ctx, s.client, keys, args...)
		})
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
