package quorum

import (
	"context"
	"slices"

	"github.com/pathlock-go/pathlock"
)

// Renew implements [pathlock.Store]: one call to each member. An owner is lost if a majority has
// nothing of it. If neither a majority has renewed it nor a majority has nothing, the error is a
// [*MajorityError], and the owner may be held still.
//
// A member that has lost an owner's grants does not get them again: they live on at the others for
// as long as those are a majority.
func (s *Store) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
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
