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

// Transfer implements [pathlock.Store]. It names the grants that a majority has transferred. If
// none has, To holds nothing.
//
// A fence is that of the grant unless the member with the greatest one is silent. Then it is less,
// and still greater than those of all grants that had been made before.
func (s *Store) Transfer(ctx context.Context, t pathlock.Transfer) (pathlock.Transferred, error) {
	if err := s.begin(); err != nil {
		return pathlock.Transferred{}, err
	}
	defer s.running.Done()
	t.Lease = drifted(t.Lease)
	what := fmt.Sprintf("transfer in %s from owner %s", t.Tree, t.From.Short())
	got := poll(ctx, s, what, func(ctx context.Context, m *member) (pathlock.Transferred, error) {
		return m.store.Transfer(ctx, t)
	})
	if got.count(isDone) >= s.majority {
		return s.merge(got), nil
	}
	if t.From != t.To {
		got.takeBack(t)
	}
	for _, a := range got.all {
		if errors.Is(a.err, pathlock.ErrInvalidRequest) {
			return pathlock.Transferred{}, fmt.Errorf("quorum: %w", a.err)
		}
	}
	if got.count(isLost) < s.majority {
		return pathlock.Transferred{}, got.unavailable(ctx)
	}
	return pathlock.Transferred{}, fmt.Errorf("quorum: %s: %w: the owner holds nothing any more", what, pathlock.ErrLost)
}

// takeBack has the members that have transferred something without a majority, or may have, give it
// back: nobody is to have it.
func (a answers[T]) takeBack(t pathlock.Transfer) {
	for _, one := range a.all {
		if one.err == nil || !isAnswer(one.err) {
			one.member.giveBackOrLater(key{tree: t.Tree, owner: t.To})
		}
	}
}

// merge returns what a majority has transferred.
func (s *Store) merge(got answers[pathlock.Transferred]) pathlock.Transferred {
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
		left = append(left, a.value.Left-time.Since(a.at))
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
