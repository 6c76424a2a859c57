package quorum

import (
	"context"
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock"
)

// Release implements [pathlock.Store]: all members are told at once. Those that do not answer are
// told in the background, when they answer again.
//
// The error matches [pathlock.ErrNotHeld] if a majority has no such grant, whatever the others had.
// It is a [*MajorityError] if neither those that gave it back nor those that had nothing are a
// majority.
func (s *store) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	return s.giveBack(ctx, fmt.Sprintf("release in %s of owner %s", tree, owner.Short()), key{tree, owner, id}, s.majority)
}

// ForceRelease implements [pathlock.Store]. A waiting request is in the queue of one member, so it
// is enough that one of a majority that answers has something to take away.
func (s *store) ForceRelease(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner) error {
	return s.giveBack(ctx, fmt.Sprintf("force release in %s of owner %s", tree, owner.Short()), key{tree: tree, owner: owner}, 1)
}

// giveBack has all members give something back, now or when they answer again. It succeeds if so
// many of them, and of a majority that answers, have had it.
func (s *store) giveBack(ctx context.Context, what string, k key, needed int) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.running.Done()
	s.forget(k)
	// What has begun is brought to its end, whatever becomes of the caller.
	got := poll(context.WithoutCancel(ctx), s, what, func(ctx context.Context, m *member) (struct{}, error) {
		return struct{}{}, m.release(ctx, k)
	})
	for _, a := range got.all {
		if !isAnswer(a.err) {
			a.member.giveBackLater(k)
		}
	}
	switch done := got.count(nil); {
	case done >= needed && len(s.members)-got.silent() >= s.majority:
		return nil
	case done < needed && got.count(pathlock.ErrNotHeld) >= s.majority:
		return fmt.Errorf("%w: quorum: %s", pathlock.ErrNotHeld, what)
	default:
		return got.unavailable(ctx)
	}
}

// Renew implements [pathlock.Store]: one call to each member. An owner is lost if a majority has
// nothing of it. If neither a majority has renewed it nor a majority has nothing, the error is a
// [*MajorityError], and the owner may be held still.
//
// A member that has lost an owner's grants does not get them again: they live on at the others for
// as long as those are a majority.
func (s *store) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	if len(leases) == 0 {
		return nil, nil
	}
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.running.Done()
	asked := make([]pathlock.Lease, 0, len(leases))
	for _, l := range leases {
		l.For = drifted(l.For)
		asked = append(asked, l)
	}
	answers := poll(ctx, s, "renew in "+tree.String(), func(ctx context.Context, m *member) ([]pathlock.Owner, error) {
		return m.store.Renew(ctx, tree, asked)
	})
	var lost []pathlock.Owner
	uncertain := answers.silent() >= s.majority
	for _, l := range leases {
		gone, renewed := 0, 0
		for _, a := range answers.all {
			switch {
			case slices.Contains(a.value, l.Owner):
				gone++ // it counts beside an error too
			case a.err == nil:
				renewed++
			}
		}
		switch {
		case renewed >= s.majority:
		case gone >= s.majority:
			lost = append(lost, l.Owner)
		default:
			uncertain = true
		}
	}
	if uncertain {
		return lost, answers.unavailable(ctx)
	}
	return lost, nil
}
