package testlock

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/pathlock-go/pathlock"
)

// Watched is a store, as if in another process, whose calls are written down and can be made to
// wait and to fail.
type Watched struct {
	pathlock.Store
	mu    sync.Mutex
	calls []string
	hook  Hook
}

// Hook is asked before each of the calls acquire, release, renew, transfer and snapshot, and after
// it as "acquired", "renewed" or "transferred" where it is one of these. If it fails, so does the
// call.
type Hook func(ctx context.Context, call string) error

// Local implements [pathlock.Store].
func (*Watched) Local() bool { return false }

// Set has a hook asked from now on, or none if it is nil.
func (w *Watched) Set(hook Hook) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hook = hook
}

// Failing is a hook that fails some calls.
func Failing(err error, calls ...string) Hook {
	fails := make(map[string]bool)
	for _, call := range calls {
		fails[call] = true
	}
	return func(_ context.Context, call string) error {
		if fails[call] {
			return err
		}
		return nil
	}
}

// Calls returns the calls since the last time, with what they were about.
func (w *Watched) Calls() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.calls
	w.calls = nil
	return calls
}

func (w *Watched) before(ctx context.Context, call, about string) error {
	w.mu.Lock()
	w.calls = append(w.calls, call+about)
	w.mu.Unlock()
	return w.ask(ctx, call)
}

func (w *Watched) ask(ctx context.Context, call string) error {
	w.mu.Lock()
	hook := w.hook
	w.mu.Unlock()
	if hook == nil {
		return nil
	}
	return hook(ctx, call)
}

// Acquire implements [pathlock.Store].
func (w *Watched) Acquire(ctx context.Context, a pathlock.Acquisition) (pathlock.Grant, error) {
	if err := w.before(ctx, "acquire", " "+Text(a.Claims)); err != nil {
		return pathlock.Grant{}, err
	}
	g, err := w.Store.Acquire(ctx, a)
	if lost := w.ask(ctx, "acquired"); lost != nil {
		err = lost
	}
	return g, err
}

// Release implements [pathlock.Store].
func (w *Watched) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	if err := w.before(ctx, "release", ""); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return w.Store.Release(ctx, tree, owner, id)
}

// Renew implements [pathlock.Store].
func (w *Watched) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	if err := w.before(ctx, "renew", fmt.Sprintf(" %d in %s", len(leases), tree.ID())); err != nil {
		return nil, err
	}
	lost, err := w.Store.Renew(ctx, tree, leases)
	return lost, errors.Join(err, w.ask(ctx, "renewed"))
}

// Transfer implements [pathlock.Store].
func (w *Watched) Transfer(ctx context.Context, t pathlock.Transfer) (pathlock.Transferred, error) {
	if err := w.before(ctx, "transfer", ""); err != nil {
		return pathlock.Transferred{}, err
	}
	got, err := w.Store.Transfer(ctx, t)
	if lost := w.ask(ctx, "transferred"); lost != nil {
		err = lost
	}
	return got, err
}

// Snapshot implements [pathlock.Store].
func (w *Watched) Snapshot(ctx context.Context, tree pathlock.Tree) (pathlock.Snapshot, error) {
	if err := w.before(ctx, "snapshot", ""); err != nil {
		return pathlock.Snapshot{}, err
	}
	return w.Store.Snapshot(ctx, tree)
}
