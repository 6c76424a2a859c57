package pathlock

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock/internal/shown"
)

// MutexNamespace is the namespace of the trees in which named locks are held: the mutex "nightly"
// is the tree (MutexNamespace, "nightly"), for [Locker.Snapshot] and [Locker.ForceRelease].
const MutexNamespace = "mutex"

// Mutex is a named lock, shared by all processes that share the lock store, for programs without a
// tree. It holds nothing itself: each call returns a [Lock] of its own, which [Lock.Release] gives
// back. Any number of goroutines may use a Mutex, and a copy is the same mutex.
//
// It re-enters by the context, as all locks do. Under [Lock.Context], a lock on the same name costs
// no round trip and waits for nobody, and the last release frees the name. So goroutines that share
// the context share the hold. Any other context is another owner, even in the same goroutine or
// under the lock of another name.
//
// Waiters are served first come, first served, across all processes.
//
// A lock is lost if its lease ends before its release. Its context then ends with a cause that
// matches [ErrLost]. By the clock, it ends no later than the lease, so before anybody else gets the
// mutex. A write that does not check the context may still come late. If that would do harm, also
// write [Lock.Fence], which grows with every grant of a name, and refuse writes with a smaller
// fence than the last.
//
// A holder that hangs while its process lives keeps the lease, so bound the hold: by MaxHold, or by
// a deadline of the context given to Lock. At the earlier of the two, the lock is released, and its
// context ends with a cause that matches [context.DeadlineExceeded], and [ErrHeldTooLong] too if
// MaxHold was the earlier. Mutexes that were locked under that context are released at the same
// time. To bound only the wait, use TryLockFor.
//
// Each name has its own record in the store, so names never wait for each other. The price is that
// a deadlock across names goes undetected: lock them in one order everywhere, or bound the wait.
type Mutex struct {
	// Lease, MaxHold and Note are those of every request: see [Request]. Set them before the first
	// use. If MaxHold is 0, only a deadline of the context bounds the hold.
	Lease, MaxHold time.Duration
	Note           string

	locker *Locker
	name   string
}

// RWMutex is a [Mutex] that any number of readers may hold at once. It and the Mutex of the same
// name are the same lock.
//
// Readers and writers queue together: a reader waits behind a writer that came first, so neither
// keeps the other out for good.
//
// A reader becomes a writer by Lock under the context of its read lock. It keeps reading while it
// waits for the other readers. If one of those becomes a writer too, each would wait for the other,
// and the second gets [ErrDeadlock] at once. A read lock that is acquired under the context of a
// write lock keeps the write lock's hold alive. A writer becomes a reader by [Lock.Downgrade].
type RWMutex struct{ Mutex }

// Mutex returns the mutex of a name, without asking the store. The name is any text that can be the
// id of a [Tree]: see [NewTree]. Programs that share a store share its names, so begin a name with
// the program's, as in "billing/nightly". Methods of a mutex with an impossible name return an
// error that matches [ErrInvalidTree].
func (l *Locker) Mutex(name string) *Mutex { return &Mutex{locker: l, name: name} }

// RWMutex returns the mutex of a name for readers and writers. Names are as in [Locker.Mutex].
func (l *Locker) RWMutex(name string) *RWMutex { return &RWMutex{*l.Mutex(name)} }

// Name returns the name of the mutex.
func (m *Mutex) Name() string { return m.name }

// Lock waits for the mutex until it gets it or ctx ends. Errors are those of [Locker.Acquire]. At
// the deadline of ctx, the error is a [*ConflictError] that says who holds the mutex. It also
// matches [context.DeadlineExceeded].
func (m *Mutex) Lock(ctx context.Context) (*Lock, error) { return m.TryLockFor(ctx, Forever) }

// TryLock takes the mutex if it is free and nobody waits for it. Otherwise it returns a
// [*ConflictError] at once.
func (m *Mutex) TryLock(ctx context.Context) (*Lock, error) { return m.TryLockFor(ctx, NoWait) }

// TryLockFor is Lock with a time-out: if others keep the mutex for d, it returns a
// [*ConflictError]. It does not wait for others if d is not positive. If the store does not answer,
// the call may last longer by the store's time-out.
func (m *Mutex) TryLockFor(ctx context.Context, d time.Duration) (*Lock, error) {
	return m.acquire(ctx, X(Root()), d)
}

// RLock waits for the writers that hold the mutex or came before it, until it may read or ctx ends.
// Errors are those of [Mutex.Lock].
func (m *RWMutex) RLock(ctx context.Context) (*Lock, error) { return m.TryRLockFor(ctx, Forever) }

// TryRLock takes the mutex for reading if no writer holds it or waits for it. Otherwise it returns
// a [*ConflictError] at once.
func (m *RWMutex) TryRLock(ctx context.Context) (*Lock, error) { return m.TryRLockFor(ctx, NoWait) }

// TryRLockFor is RLock with a time-out, as [Mutex.TryLockFor].
func (m *RWMutex) TryRLockFor(ctx context.Context, d time.Duration) (*Lock, error) {
	return m.acquire(ctx, S(Root()), d)
}

// acquire acquires a claim on the name's tree, which has no node but its root.
func (m *Mutex) acquire(ctx context.Context, claim Claim, wait time.Duration) (*Lock, error) {
	tree, err := NewTree(MutexNamespace, m.name)
	if err != nil {
		return nil, fmt.Errorf("pathlock: mutex %q: %w", shown.Cut(m.name), err)
	}
	if wait <= 0 {
		wait = NoWait
	}
	return m.locker.Acquire(ctx, Request{
		Tree: tree, Claims: []Claim{claim}, Wait: wait, Lease: m.Lease, MaxHold: cmp.Or(m.MaxHold, Forever), Note: m.Note,
		OwnScope: true,
	})
}
