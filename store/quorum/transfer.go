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
		// What has been transferred without a majority, or may have been, is nobody's.
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
