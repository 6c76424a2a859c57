package quorum

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

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

// ForceRelease implements [pathlock.Store]. It needs answers from a majority, of which one must
// have something to take away: a waiting request is in the queue of only one member.
func (s *store) ForceRelease(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner) error {
	return s.giveBack(ctx, fmt.Sprintf("force release in %s of owner %s", tree, owner.Short()), key{tree: tree, owner: owner}, 1)
}

// giveBack makes all members give something back, now or when they answer again. It succeeds if a
// majority answers, and enough of the members had it.
func (s *store) giveBack(ctx context.Context, what string, k key, needed int) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.running.Done()
	// What has begun is finished, whatever becomes of the caller.
	got := poll(context.WithoutCancel(ctx), s, what, func(ctx context.Context, m *member) (struct{}, error) {
		return struct{}{}, m.release(ctx, k)
	})
	for _, a := range got.all {
		if !isAnswer(a.err) {
			a.member.giveBackLater(k, a.err)
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
	asked := slices.Clone(leases)
	for i := range asked {
		asked[i].For = drifted(asked[i].For)
	}
	answers := poll(ctx, s, "renew in "+tree.String(), func(ctx context.Context, m *member) ([]pathlock.Owner, error) {
		gone, err := m.store.Renew(ctx, tree, asked)
		if err == nil && len(gone) > 0 {
			err = fmt.Errorf("%w: it has nothing of %d owners", pathlock.ErrLost, len(gone))
		}
		return gone, err
	})
	var lost []pathlock.Owner
	uncertain := answers.silent() >= s.majority
	for _, l := range leases {
		gone, renewed := 0, 0
		for _, a := range answers.all {
			switch {
			case slices.Contains(a.value, l.Owner):
				gone++ // it counts beside an error too
			case a.err == nil, isLost(a.err):
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

// Transfer implements [pathlock.Store]. It names the grants that a majority has transferred. If no
// majority has, To holds nothing.
//
// A fence is that of the grant unless the member with the greatest one is silent. Then it is less,
// and still greater than those of all grants that had been made before.
func (s *store) Transfer(ctx context.Context, t pathlock.Transfer) (pathlock.Transferred, error) {
	if err := s.begin(); err != nil {
		return pathlock.Transferred{}, err
	}
	defer s.running.Done()
	t.Lease = drifted(t.Lease)
	what := fmt.Sprintf("transfer in %s from owner %s", t.Tree, t.From.Short())
	got := poll(ctx, s, what, func(ctx context.Context, m *member) (pathlock.Transferred, error) {
		return m.store.Transfer(ctx, t)
	})
	if got.count(nil) >= s.majority {
		return s.merge(got), nil
	}
	err := got.unavailable(ctx)
	if got.count(pathlock.ErrLost) >= s.majority {
		err = fmt.Errorf("quorum: %s: %w: the owner holds nothing any more", what, pathlock.ErrLost)
	}
	for _, a := range got.all {
		if errors.Is(a.err, pathlock.ErrInvalidRequest) {
			err = fmt.Errorf("quorum: %w", a.err)
		}
		// A hold that was, or may have been, transferred without a majority belongs to nobody.
		if t.From != t.To && (a.err == nil || !isAnswer(a.err)) {
			a.member.giveBackOrLater(key{tree: t.Tree, owner: t.To})
		}
	}
	return pathlock.Transferred{}, err
}

// merge returns what a majority has transferred.
func (s *store) merge(got answers[pathlock.Transferred]) pathlock.Transferred {
	type grant struct {
		pathlock.TransferredGrant
		members int
	}
	grants := make(map[pathlock.GrantID]grant)
	var left []time.Duration
	for _, a := range got.all {
		if a.err != nil {
			continue
		}
		left = append(left, a.value.Left)
		for _, g := range a.value.Grants {
			known := grants[g.ID]
			g.Fence, g.Apart = max(a.member.fenceOf(g.Fence), known.Fence), g.Apart || known.Apart
			grants[g.ID] = grant{g, known.members + 1}
		}
	}
	slices.Sort(left)
	out := pathlock.Transferred{Left: undrifted(left[len(left)-s.majority])}
	for _, g := range grants {
		if g.members >= s.majority {
			out.Grants = append(out.Grants, g.TransferredGrant)
		}
	}
	slices.SortFunc(out.Grants, func(a, b pathlock.TransferredGrant) int { return cmp.Compare(a.Fence, b.Fence) })
	return out
}
