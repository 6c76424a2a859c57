package quorum_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/pathlock-go/pathlock"
)

// link is the way from one process to one member. It can be cut, in the ways in which networks and
// servers fail.
type link struct {
	store pathlock.Store

	mu   sync.Mutex
	mode mode
	// changed is closed when the mode changes.
	changed chan struct{}
}

// mode is how a link works.
type mode int

const (
	open mode = iota
	// refusing answers at once that there is nobody.
	refusing
	// hanging passes nothing on, and answers nothing.
	hanging
	// deaf passes on what is asked, and no answer.
	deaf
)

// links returns a link to each of the stores, as one process has them.
func links(stores []pathlock.Store) (all []*link, members []pathlock.Store) {
	for _, store := range stores {
		l := &link{store: store, changed: make(chan struct{})}
		all, members = append(all, l), append(members, l)
	}
	return all, members
}

func (l *link) set(m mode) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mode = m
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *link) state() (mode, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mode, l.changed
}

// silent returns when ctx ends.
func silent(ctx context.Context) error {
	<-ctx.Done()
	return fmt.Errorf("%w: no answer: %w", pathlock.ErrUnavailable, ctx.Err())
}

// over passes a call on, and back, as far as the link allows.
func over[T any](ctx context.Context, l *link, call func(context.Context) (T, error)) (T, error) {
	var none T
	switch m, _ := l.state(); m {
	case refusing:
		return none, fmt.Errorf("%w: connection refused", pathlock.ErrUnavailable)
	case hanging:
		return none, silent(ctx)
	}
	type result struct {
		value T
		err   error
	}
	came := make(chan result, 1)
	go func() {
		value, err := call(ctx)
		came <- result{value, err}
	}()
	for {
		m, changed := l.state()
		if m == refusing {
			// The connection is cut, and the server goes on for itself.
			return none, fmt.Errorf("%w: connection reset", pathlock.ErrUnavailable)
		}
		arrived := came
		if m != open {
			arrived = nil
		}
		select {
		case r := <-arrived:
			return r.value, r.err
		case <-changed:
		case <-ctx.Done():
			if m != open {
				return none, silent(ctx)
			}
			r := <-came
			return r.value, r.err
		}
	}
}

// tell is over for calls that are answered with an error alone.
func (l *link) tell(ctx context.Context, call func(context.Context) error) error {
	_, err := over(ctx, l, func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) })
	return err
}

func (l *link) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	return over(ctx, l, func(ctx context.Context) (pathlock.Grant, error) { return l.store.Acquire(ctx, req) })
}

func (l *link) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	return l.tell(ctx, func(ctx context.Context) error { return l.store.Release(ctx, tree, owner, id) })
}

func (l *link) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	return over(ctx, l, func(ctx context.Context) ([]pathlock.Owner, error) { return l.store.Renew(ctx, tree, leases) })
}

func (l *link) Transfer(ctx context.Context, t pathlock.Transfer) (pathlock.Transferred, error) {
	return over(ctx, l, func(ctx context.Context) (pathlock.Transferred, error) { return l.store.Transfer(ctx, t) })
}

func (l *link) Snapshot(ctx context.Context, tree pathlock.Tree) (pathlock.Snapshot, error) {
	return over(ctx, l, func(ctx context.Context) (pathlock.Snapshot, error) { return l.store.Snapshot(ctx, tree) })
}

func (l *link) Trees(ctx context.Context) ([]pathlock.Tree, error) {
	return over(ctx, l, l.store.Trees)
}

func (l *link) ForceRelease(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner) error {
	return l.tell(ctx, func(ctx context.Context) error { return l.store.ForceRelease(ctx, tree, owner) })
}

func (l *link) Ping(ctx context.Context) error { return l.tell(ctx, l.store.Ping) }

func (l *link) Close(context.Context) error { return nil }

func (l *link) Local() bool { return false }
