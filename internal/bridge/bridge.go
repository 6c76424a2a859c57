// Package bridge is what the packages of this module ask of a locker and its locks beyond what
// programs may.
package bridge

import "context"

// OwnScope is the very context to give to a locker's Acquire to ask in a scope that holds in the
// request's tree alone: that of a lock in the tree whose context this one descends from, or else a
// new one. So whoever works under locks of other trees conflicts with others who do, and the lock's
// context leaves those locks their own scope.
type OwnScope struct{ context.Context }

// Lock is a lock that other code than its holder's watches over.
type Lock interface {
	// Abandon releases the lock as ReleaseInBackground does, and makes reason the cause with which
	// the lock's context ends. What was acquired under that context keeps what it relies on until
	// its own release. So a database transaction that the end of the context rolls back keeps it
	// until the rollback is done.
	Abandon(ctx context.Context, reason error)
}

// Exchanger is a [Lock] that can hold something else, with claims of type C.
type Exchanger[C any] interface {
	// Exchange makes the lock, and all that re-enter what it holds, hold the claims instead. Nobody
	// is let in between, and the fence stays. Others see the note from then on, and the fence of
	// the new grant. The lock was granted by the store in one piece. After an error everything is
	// as it was.
	Exchange(ctx context.Context, claims []C, note string) error
}

// LockKey is the key under which a lock's context has its [Lock].
type LockKey struct{}

// LockOf returns the lock whose context, or one that was derived from it, ctx is.
func LockOf(ctx context.Context) Lock {
	lock, _ := ctx.Value(LockKey{}).(Lock)
	return lock
}
