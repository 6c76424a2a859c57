// Package offstore is a lock store that protects nothing: it grants every request at once and
// remembers none. It exists to show what locks prevent, as the sample
// application does with --locks off://, and to run a program whose safety rests on something else.
//
// It is meant not to pass the conformance suite in store/storetest: two owners hold the same node
// at once.
package offstore

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Store is a [pathlock.Store] that holds nothing.
type Store struct {
	fence atomic.Uint64
}

var _ pathlock.LocalStore = (*Store)(nil)

// New returns a store without any memory but that of its last fence.
func New() *Store { return new(Store) }

// Local implements [pathlock.LocalStore].
func (s *Store) Local() bool { return true }

// Acquire grants everything at once. The fences of a store grow strictly, over all
// trees; they begin at the time in microseconds since 1970, so that they also grow when a process
// is started again.
func (s *Store) Acquire(context.Context, pathlock.Acquisition) (pathlock.Grant, error) {
	s.fence.CompareAndSwap(0, uint64(max(0, time.Now().UnixMicro())))
	return pathlock.Grant{Fence: s.fence.Add(1)}, nil
}

// Release does nothing. It takes every grant for held, so that a [pathlock.Locker] sees its locks
// end as usual.
func (s *Store) Release(context.Context, pathlock.Tree, pathlock.Owner, pathlock.GrantID) error {
	return nil
}

// Renew does nothing. No lease is ever lost.
func (s *Store) Renew(context.Context, pathlock.Tree, []pathlock.Lease) ([]pathlock.Owner, error) {
	return nil, nil
}

// Snapshot shows a tree in which nobody holds or waits.
func (s *Store) Snapshot(_ context.Context, tree pathlock.Tree) (pathlock.Snapshot, error) {
	return pathlock.Snapshot{Tree: tree, Holders: []pathlock.Hold{}, Waiters: []pathlock.Hold{}}, nil
}

// Trees returns none.
func (s *Store) Trees(context.Context) ([]pathlock.Tree, error) { return nil, nil }

// ForceRelease says that there is nothing to take away.
func (s *Store) ForceRelease(_ context.Context, tree pathlock.Tree, owner pathlock.Owner) error {
	return fmt.Errorf("%w: owner %s in %s: the store holds nothing", pathlock.ErrNotHeld, owner.Short(), tree)
}

// Ping never fails.
func (s *Store) Ping(context.Context) error { return nil }
