// Package offstore is a lock store that protects nothing: it grants every request at once and
// remembers none. It shows what locks prevent, as in the sample application with --locks off://. It
// also suits programs whose safety rests on something else.
//
// It does not pass the conformance suite in store/storetest, since two owners hold the same node at
// once.
package offstore

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/pathlock-go/pathlock"
)

// store is a [pathlock.Store] that holds nothing.
type store struct {
	fence atomic.Uint64
}

var _ pathlock.Store = (*store)(nil)

// New returns a store that remembers only its last fence.
func New() pathlock.Store { return new(store) }

// Local implements [pathlock.Store].
func (s *store) Local() bool { return true }

// Acquire grants everything at once. The fences of a store grow strictly, over all trees. They
// begin at the time in microseconds since 1970, so that they also grow across a restart of the
// process.
func (s *store) Acquire(context.Context, pathlock.Acquisition) (pathlock.Grant, error) {
	s.fence.CompareAndSwap(0, uint64(max(0, time.Now().UnixMicro())))
	return pathlock.Grant{Fence: s.fence.Add(1)}, nil
}

// Release does nothing. It never fails, so a [pathlock.Locker] sees its locks end as usual.
func (s *store) Release(context.Context, pathlock.Tree, pathlock.Owner, pathlock.GrantID) error {
	return nil
}

// Renew does nothing. No lease is ever lost.
func (s *store) Renew(context.Context, pathlock.Tree, []pathlock.Lease) ([]pathlock.Owner, error) {
	return nil, nil
}

// Snapshot shows a tree in which nobody holds or waits.
func (s *store) Snapshot(_ context.Context, tree pathlock.Tree) (pathlock.Snapshot, error) {
	return pathlock.Snapshot{Tree: tree, Now: time.Now(), Holders: []pathlock.Entry{}, Waiters: []pathlock.Entry{}}, nil
}

// Trees returns none.
func (s *store) Trees(context.Context) ([]pathlock.Tree, error) { return nil, nil }

// ForceRelease does nothing. It never fails, so that clients can release a token's hold.
func (s *store) ForceRelease(context.Context, pathlock.Tree, pathlock.Owner) error { return nil }

// Close does nothing: there is nothing to end, and later calls are answered as before.
func (s *store) Close(context.Context) error { return nil }

// Ping never fails.
func (s *store) Ping(context.Context) error { return nil }

// Transfer answers with a hold of no grants. Its lease lasts for t.Lease, or
// [pathlock.DefaultLease].
func (s *store) Transfer(_ context.Context, t pathlock.Transfer) (pathlock.Transferred, error) {
	return pathlock.Transferred{Left: cmp.Or(t.Lease, pathlock.DefaultLease)}, nil
}
