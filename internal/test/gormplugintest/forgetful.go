package gormplugintest

import (
	"context"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// forgetting returns a lock store that loses its memory again and again, as a server does that is
// flushed, or restarted without its data. It never admits it: renewals and releases of what it has
// forgotten succeed, who waits goes on waiting in the next life, and an owner that held something
// is granted more as if it still did.
func forgetting(every time.Duration) pathlock.Store { return &forgetful{every: every} }

type forgetful struct {
	every time.Duration

	mu     sync.Mutex
	memory pathlock.Store
	// until is when the memory is lost.
	until time.Time
}

// now returns the present memory and how long it lasts.
func (f *forgetful) now() (pathlock.Store, time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); !now.Before(f.until) {
		f.memory, f.until = memstore.New(), now.Add(f.every)
	}
	return f.memory, f.until
}

// Acquire implements [pathlock.Store].
func (f *forgetful) Acquire(ctx context.Context, a pathlock.Acquisition) (pathlock.Grant, error) {
	a.Held = false
	deadline := time.Now().Add(a.Wait)
	for {
		memory, until := f.now()
		life, end := context.WithDeadline(ctx, until)
		grant, err := memory.Acquire(life, a)
		forgotten := life.Err() != nil && ctx.Err() == nil
		end()
		if err == nil || !forgotten {
			return grant, err
		}
		a.Wait, a.Waiting = max(time.Until(deadline), 0), nil
	}
}

// Release implements [pathlock.Store].
func (f *forgetful) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	memory, _ := f.now()
	_ = memory.Release(ctx, tree, owner, id) // what is forgotten is taken for released
	return nil
}

// Renew implements [pathlock.Store].
func (f *forgetful) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	memory, _ := f.now()
	_, err := memory.Renew(ctx, tree, leases)
	return nil, err
}

// Snapshot implements [pathlock.Store].
func (f *forgetful) Snapshot(ctx context.Context, tree pathlock.Tree) (pathlock.Snapshot, error) {
	memory, _ := f.now()
	return memory.Snapshot(ctx, tree)
}

// Trees implements [pathlock.Store].
func (f *forgetful) Trees(ctx context.Context) ([]pathlock.Tree, error) {
	memory, _ := f.now()
	return memory.Trees(ctx)
}

// ForceRelease implements [pathlock.Store].
func (f *forgetful) ForceRelease(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner) error {
	memory, _ := f.now()
	return memory.ForceRelease(ctx, tree, owner)
}

// Transfer implements [pathlock.Store].
func (f *forgetful) Transfer(ctx context.Context, t pathlock.Transfer) (pathlock.Transferred, error) {
	memory, _ := f.now()
	return memory.Transfer(ctx, t)
}

// Close implements [pathlock.Store].
func (f *forgetful) Close(context.Context) error { return nil }

// Local implements [pathlock.Store].
func (f *forgetful) Local() bool { return false }

// Ping implements [pathlock.Store].
func (f *forgetful) Ping(context.Context) error { return nil }
