package anystore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/pathlock-go/pathlock"
)

// preparation is what a store needs once before its first use.
type preparation struct {
	run  func(context.Context) error
	over atomic.Bool
	turn chan struct{}
}

func newPreparation(run func(context.Context) error) *preparation {
	p := &preparation{run: run, turn: make(chan struct{}, 1)}
	p.over.Store(run == nil)
	return p
}

// ready returns when the store can be used. After an error, the next use tries again.
func (p *preparation) ready(ctx context.Context) error {
	if p.over.Load() {
		return nil
	}
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return fmt.Errorf("anystore: preparing the store: %w", ctx.Err())
	}
	if p.over.Load() {
		return nil
	}
	err := p.run(ctx)
	switch {
	case err == nil:
		p.over.Store(true)
		return nil
	case errors.Is(err, pathlock.ErrUnavailable) || ctx.Err() != nil:
		return fmt.Errorf("anystore: preparing the store: %w", err)
	default:
		return fmt.Errorf("%w: anystore: preparing the store: %w", pathlock.ErrUnavailable, err)
	}
}

// Acquire implements [pathlock.Store].
func (s *Store) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	if err := s.preparation.ready(ctx); err != nil {
		return pathlock.Grant{}, err
	}
	return s.TransferStore.Acquire(ctx, req)
}

// Release implements [pathlock.Store].
func (s *Store) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	if err := s.preparation.ready(ctx); err != nil {
		return err
	}
	return s.TransferStore.Release(ctx, tree, owner, id)
}

// Renew implements [pathlock.Store].
func (s *Store) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	if err := s.preparation.ready(ctx); err != nil {
		return nil, err
	}
	return s.TransferStore.Renew(ctx, tree, leases)
}

// Transfer implements [pathlock.TransferStore].
func (s *Store) Transfer(ctx context.Context, t pathlock.Transfer) (pathlock.Transferred, error) {
	if err := s.preparation.ready(ctx); err != nil {
		return pathlock.Transferred{}, err
	}
	return s.TransferStore.Transfer(ctx, t)
}

// Snapshot implements [pathlock.Store].
func (s *Store) Snapshot(ctx context.Context, tree pathlock.Tree) (pathlock.Snapshot, error) {
	if err := s.preparation.ready(ctx); err != nil {
		return pathlock.Snapshot{}, err
	}
	return s.TransferStore.Snapshot(ctx, tree)
}

// Trees implements [pathlock.Store].
func (s *Store) Trees(ctx context.Context) ([]pathlock.Tree, error) {
	if err := s.preparation.ready(ctx); err != nil {
		return nil, err
	}
	return s.TransferStore.Trees(ctx)
}

// ForceRelease implements [pathlock.Store].
func (s *Store) ForceRelease(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner) error {
	if err := s.preparation.ready(ctx); err != nil {
		return err
	}
	return s.TransferStore.ForceRelease(ctx, tree, owner)
}

// Ping implements [pathlock.Store].
func (s *Store) Ping(ctx context.Context) error {
	if err := s.preparation.ready(ctx); err != nil {
		return err
	}
	return s.TransferStore.Ping(ctx)
}
