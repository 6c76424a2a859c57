package gormplugintest

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Forgetful returns a lock store that loses its memory again and again, as a server does that is
// flushed, or restarted without its data. It never admits it: renewals and releases of what it has
// forgotten succeed, who waits goes on waiting in the next life, and an owner that held something
// is granted more as if it still did.
func Forgetful(every time.Duration) pathlock.Store { return &forgetful{every: every} }

type forgetful struct {
	every time.Duration

	mu     sync.Mutex
	memory *memstore.Store
	// until is when the memory is lost.
	until time.Time
}

// now returns the present memory and how long it lasts.
func (f *forgetful) now() (*memstore.Store, time.Time) {
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

// Local implements [pathlock.Store].
func (f *forgetful) Local() bool { return false }

// Ping implements [pathlock.Store].
func (f *forgetful) Ping(context.Context) error { return nil }

// Late returns a lock store in which every question, and every answer, is on its way for a random
// time of up to delay. With leases shorter than that, locks are granted that have run out by the
// time that their owner hears of it, and that others hold by then.
func Late(delay time.Duration) pathlock.Store {
	return late{Store: memstore.New(), delay: delay}
}

type late struct {
	pathlock.Store
	delay time.Duration
}

// Local implements [pathlock.Store].
func (late) Local() bool { return false }

// travel is over when the message has arrived, or when nobody waits for it any more.
func (l late) travel(ctx context.Context) error {
	timer := time.NewTimer(rand.N(l.delay))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Acquire implements [pathlock.Store].
func (l late) Acquire(ctx context.Context, a pathlock.Acquisition) (pathlock.Grant, error) {
	if err := l.travel(ctx); err != nil {
		return pathlock.Grant{}, err
	}
	grant, err := l.Store.Acquire(ctx, a)
	if err != nil {
		return grant, err
	}
	// Who gives up now leaves a lock behind, until its lease ends. Who does not is told that the
	// grant is new: a locker that knew how old it is would not believe in it.
	err = l.travel(ctx)
	grant.Asked = time.Now()
	return grant, err
}

// Release implements [pathlock.Store].
func (l late) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	if err := l.travel(ctx); err != nil {
		return err
	}
	return l.Store.Release(ctx, tree, owner, id)
}

// Renew implements [pathlock.Store].
func (l late) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	if err := l.travel(ctx); err != nil {
		return nil, err
	}
	return l.Store.Renew(ctx, tree, leases)
}
