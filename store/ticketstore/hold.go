package ticketstore

import (
	"context"
	"errors"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Release implements [pathlock.Store].
func (s *store) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	return s.takeAway(ctx, s.latest(), tree, func(tx *transaction) error { return tx.table.Release(owner, id) })
}

// takeAway applies an operation that takes something away. If the reply to one try was lost, the
// next one finds that it is already gone.
func (s *store) takeAway(ctx context.Context, until time.Time, tree pathlock.Tree, take func(*transaction) error) error {
	var taken bool
	var refused error
	err := s.call(ctx, until, tree, &operation{apply: func(tx *transaction) {
		if refused = take(tx); refused == nil {
			taken = true
		}
	}})
	if err != nil {
		return err // the operation may still be under way
	}
	if taken {
		return nil
	}
	return refused
}

// Renew implements [pathlock.Store].
func (s *store) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) (lost []pathlock.Owner, err error) {
	portion, until := max(1, s.portion()), s.latest()
	for len(leases) > 0 {
		n := min(portion, len(leases))
		var gone []pathlock.Owner
		err := s.call(ctx, until, tree, &operation{apply: func(tx *transaction) {
			gone = tx.table.Renew(leases[:n])
		}})
		if errors.Is(err, pathlock.ErrInvalidRequest) && n > 1 { // they have too many grants together
			portion = n / 2
			continue
		}
		if err != nil {
			return lost, err
		}
		lost, leases = append(lost, gone...), leases[n:]
	}
	return lost, nil
}

// Transfer implements [pathlock.Store].
func (s *store) Transfer(ctx context.Context, t pathlock.Transfer) (pathlock.Transferred, error) {
	var got pathlock.Transferred
	var refused error
	op := &operation{apply: func(tx *transaction) {
		got, refused = tx.table.Transfer(t)
	}}
	if err := s.call(ctx, s.latest(), t.Tree, op); err != nil {
		return pathlock.Transferred{}, err
	}
	return got, refused
}

// ForceRelease implements [pathlock.Store]. It takes several updates if one cannot write it all.
func (s *store) ForceRelease(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner) error {
	until := s.latest()
	for begun := false; ; begun = true {
		more := false
		err := s.takeAway(ctx, until, tree, func(tx *transaction) (err error) {
			more, err = tx.forceRelease(owner)
			return err
		})
		switch {
		case begun && errors.Is(err, pathlock.ErrNotHeld):
			return nil // the rest has ended meanwhile
		case err != nil || !more:
			return err
		}
	}
}
