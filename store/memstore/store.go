// Package memstore is the lock store of a single process. It is the embedded default, and the
// reference for the conformance suite in store/storetest.
//
//	locker := pathlock.New(memstore.New())
//
// # How it works
//
// Every tree has its own lock table, under its own mutex, by the rule of internal/queue. A table
// in which nobody holds or waits is forgotten. A few unused ones are kept for the next trees, so an
// uncontended request allocates nothing, however deep it is.
//
// There are no goroutines besides the callers'. The next use of a table notices a lease that has
// ended. If nobody uses the table while requests wait, its alarm makes one of the waiters look.
package memstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/internal/locktable"
)

// store is a [pathlock.Store] in the memory of the process.
type store struct {
	// fence is the latest of all trees: fences keep growing in a tree whose table was forgotten.
	fence atomic.Uint64

	// life ends with Close.
	life context.Context
	end  context.CancelFunc

	mu     sync.Mutex
	tables map[pathlock.Tree]*table
	// empty has tables that nobody uses, for any tree: a request that nobody competes with
	// allocates nothing.
	empty sync.Pool
}

var _ pathlock.Store = (*store)(nil)

// New returns an empty store. It starts no goroutine that Close would have to end. Lockers see each
// other's locks only if they share one store.
//
// Contexts matter to Acquire alone: the other methods never wait.
func New() pathlock.Store {
	life, end := context.WithCancel(context.Background())
	return &store{tables: make(map[pathlock.Tree]*table), life: life, end: end}
}

// Acquire implements [pathlock.Store]. The error matches [pathlock.ErrLost] if ForceRelease takes
// away the request's place in the queue, or if the owner held something and loses its lease
// meanwhile.
//
// A request that does not wait gets a conflict and never a deadlock.
//
// A second call with the owner and grant id of a waiting request waits for the same grant. The
// request leaves the queue when the last of the calls gives up.
func (s *store) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	if ctx.Err() != nil {
		return pathlock.Grant{}, fmt.Errorf("pathlock/memstore: acquiring in %s: %w", req.Tree, ctx.Err())
	}
	t, err := s.use(req.Tree)
	if err != nil {
		return pathlock.Grant{}, err
	}
	defer s.unuse(t)

	grant, a, err := t.acquire(ctx, req)
	if err != nil || a == nil {
		return grant, err
	}
	if req.Waiting != nil {
		t.announce(ctx, a, req.Waiting)
	}
	return t.await(ctx, a, s.life.Done())
}

// Release implements [pathlock.Store].
func (s *store) Release(_ context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	return s.within(tree, func(t *table) error { return t.Table.Release(owner, id) })
}

// Renew implements [pathlock.Store].
func (s *store) Renew(_ context.Context, tree pathlock.Tree, renewals []pathlock.Lease) (lost []pathlock.Owner, err error) {
	err = s.within(tree, func(t *table) error {
		lost = t.Table.Renew(renewals)
		return nil
	})
	return lost, err
}

// Transfer implements [pathlock.Store]. The error matches [pathlock.ErrInvalidRequest] if To is
// another owner and takes part in the tree already while From holds something.
func (s *store) Transfer(_ context.Context, tr pathlock.Transfer) (got pathlock.Transferred, err error) {
	err = s.within(tr.Tree, func(t *table) error {
		got, err = t.Table.Transfer(tr)
		return err
	})
	return got, err
}

// ForceRelease implements [pathlock.Store].
func (s *store) ForceRelease(_ context.Context, tree pathlock.Tree, owner pathlock.Owner) error {
	return s.within(tree, func(t *table) error {
		_, err := t.Table.ForceRelease(owner, 0)
		return err
	})
}

// Snapshot implements [pathlock.Store]. A tree that nobody uses has no fence on record.
func (s *store) Snapshot(_ context.Context, tree pathlock.Tree) (seen pathlock.Snapshot, err error) {
	err = s.within(tree, func(t *table) error {
		seen = t.Table.Snapshot()
		return nil
	})
	return seen, err
}

// Trees implements [pathlock.Store].
func (s *store) Trees(ctx context.Context) (trees []pathlock.Tree, err error) {
	s.mu.Lock()
	all := slices.Collect(maps.Keys(s.tables))
	s.mu.Unlock()
	for _, tree := range all {
		_ = s.within(tree, func(t *table) error { // which fails after Close, as Ping does
			if !t.IsEmpty() {
				trees = append(trees, tree)
			}
			return nil
		})
	}
	return trees, s.Ping(ctx)
}

// Local implements [pathlock.Store].
func (s *store) Local() bool { return true }

// Ping implements [pathlock.Store]. It fails only after Close.
func (s *store) Ping(context.Context) error { return s.refusal() }

// Close implements [pathlock.Store]. Nobody can ask for the locks any more.
func (s *store) Close(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
	return nil
}

// errClosed is the error of every call to a store that has been closed.
var errClosed = fmt.Errorf("pathlock/memstore: %w: %w", pathlock.ErrUnavailable, pathlock.ErrClosed)

// refusal returns errClosed after Close.
func (s *store) refusal() error {
	if s.life.Err() != nil {
		return errClosed
	}
	return nil
}

// within does something with a tree's table.
func (s *store) within(tree pathlock.Tree, do func(*table) error) error {
	t, err := s.use(tree)
	if err != nil {
		return err
	}
	defer s.unuse(t)
	t.enter()
	defer t.leave()
	return do(t)
}

// use returns a tree's table, a new one if there is none, and keeps it until unuse.
func (s *store) use(tree pathlock.Tree) (*table, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refusal(); err != nil {
		return nil, err
	}
	t := s.tables[tree]
	if t == nil {
		if t, _ = s.empty.Get().(*table); t == nil {
			t = &table{Table: locktable.New(pathlock.Tree{}, s.next, endWait)}
		}
		t.Reset(tree)
		s.tables[tree] = t
	}
	t.users++
	return t, nil
}

// unuse undoes use. A table that is empty and without users is forgotten.
func (s *store) unuse(t *table) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.users--
	// A table without users can be read without its mutex.
	if t.users == 0 && t.IsEmpty() {
		delete(s.tables, t.Tree())
		s.empty.Put(t)
	}
}

// next returns a fence that is greater than all before it, and at least the time in microseconds
// since 1970. So fences also grow across a restart of the process, beside a database that remembers
// older ones.
func (s *store) next(now time.Time) uint64 {
	for {
		last := s.fence.Load()
		next := max(last+1, uint64(max(0, now.UnixMicro())))
		if s.fence.CompareAndSwap(last, next) {
			return next
		}
	}
}
