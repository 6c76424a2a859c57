package redisstore

import (
	"context"
	"slices"

	"github.com/pathlock-go/pathlock"
)

// Release implements [pathlock.Store]: one EVALSHA, which also hands over to waiters. If the client
// had to send it twice because a reply was lost, that the second finds nothing is no error.
func (s *Store) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	return s.giveBack(ctx, tree, &s.scripts.release, operation{"release", tree, owner},
		&counted{value: string(owner)}, string(id))
}

// ForceRelease implements [pathlock.Store]. What waits in the owner's name ends with an
// error that matches [pathlock.ErrLost]. The owner under which a [Store.Snapshot] shows a gate
// that another program took with redislock works too.
func (s *Store) ForceRelease(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner) error {
	return s.giveBack(ctx, tree, &s.scripts.force, operation{"force release", tree, owner},
		&counted{value: string(owner)})
}

// giveBack calls a script that gives back what an owner has.
func (s *Store) giveBack(ctx context.Context, tree pathlock.Tree, sc *script, what operation, owner *counted, args ...any) error {
	keys := s.keys.of(tree)
	got, err := callDirectly(ctx, s, what, func(ctx context.Context) (reply, error) {
		return sc.ask(ctx, s.runner, keys, append([]any{owner}, args...)...)
	})
	if err != nil {
		return err
	}
	if got.more() {
		s.proceedLater(ctx, keys)
	}
	if got.status != "released" && !owner.again() {
		return notHeld(what)
	}
	return nil
}

// renewals is how many leases one script renews: so many that a call seldom needs a
// second, so few that the server is not kept from other work for long.
const renewals = 200

// Renew implements [pathlock.Store]: one EVALSHA for every 200 leases. An owner that has
// the gate has lost everything in the tree if the gate's key is gone or another's.
func (s *Store) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	keys := s.keys.of(tree)
	what := operation{verb: "renew", tree: tree}
	var lost []pathlock.Owner
	for portion := range slices.Chunk(leases, renewals) {
		args := make([]any, 0, 3*len(portion))
		for _, l := range portion {
			args = append(args, string(l.Owner), string(l.Grant), leaseTime(l.For))
		}
		got, err := callDirectly(ctx, s, what, func(ctx context.Context) (reply, error) {
			return s.scripts.renew.ask(ctx, s.runner, keys, args...)
		})
		if err != nil {
			return lost, err
		}
		if got.more() {
			s.proceedLater(ctx, keys)
		}
		for i := 1; i < len(got.rest); i++ {
			if at := got.number(i); at >= 1 && at <= uint64(len(portion)) {
				lost = append(lost, portion[at-1].Owner)
			}
		}
	}
	return lost, nil
}
