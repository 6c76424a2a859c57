package memstore

import (
	"context"
	"fmt"
	"sync"

	"github.com/pathlock-go/pathlock"
)

// Store is a [pathlock.Store] in the memory of the process. It needs no clean-up. All lockers
// that are to see each other's locks share one Store.
//
// Contexts matter to Acquire alone: the other methods never wait.
type Store struct {
	fences fences

	mu     sync.Mutex
	tables map[pathlock.Tree]*table
	// idle are tables that nobody uses, for the next trees: at most maxIdle.
	idle []*table
}

// maxIdle is how many tables are kept to use again.
const maxIdle = 16

var (
	_ pathlock.LocalStore    = (*Store)(nil)
	_ pathlock.TransferStore = (*Store)(nil)
)

// New returns a store in which nobody holds anything.
func New() *Store {
	return &Store{tables: make(map[pathlock.Tree]*table)}
}

// Acquire implements [pathlock.Store]. An acquisition that makes no sense gives
// an error that matches [pathlock.ErrInvalidRequest]. A request whose place in the queue
// is taken away by ForceRelease, or whose owner held something and loses its lease meanwhile, ends
// with an error that matches [pathlock.ErrLost].
//
// A request that does not wait is never part of a deadlock: it gets the conflict.
//
// A second call with an owner and grant id that wait waits for the same grant; the
// request leaves the queue when the last of the calls gives up.
func (s *Store) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	if err := req.Validate(); err != nil {
		return pathlock.Grant{}, fmt.Errorf("pathlock/memstore: %w", err)
	}
	if ctx.Err() != nil {
		return pathlock.Grant{}, fmt.Errorf("pathlock/memstore: acquiring in %s: %w", req.Tree, contextError(ctx))
	}
	t := s.use(req.Tree)
	defer s.unuse(t)

	grant, a, err := t.acquire(ctx, req)
	if err != nil || a == nil {
		return grant, err
	}
	if req.Waiting != nil {
		t.announce(ctx, a, req.Waiting)
	}
	return t.await(ctx, a)
}

// Release implements [pathlock.Store].
func (s *Store) Release(_ context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	t := s.use(tree)
	defer s.unuse(t)
	return t.release(owner, id)
}

// Renew implements [pathlock.Store].
func (s *Store) Renew(_ context.Context, tree pathlock.Tree, renewals []pathlock.Lease) ([]pathlock.Owner, error) {
	t := s.use(tree)
	defer s.unuse(t)
	return t.renew(renewals), nil
}

// ForceRelease implements [pathlock.Store].
func (s *Store) ForceRelease(_ context.Context, tree pathlock.Tree, owner pathlock.Owner) error {
	t := s.use(tree)
	defer s.unuse(t)
	return t.forceRelease(owner)
}

// Snapshot implements [pathlock.Store]. A tree that nobody uses has no fence on record.
func (s *Store) Snapshot(_ context.Context, tree pathlock.Tree) (pathlock.Snapshot, error) {
	t := s.use(tree)
	defer s.unuse(t)
	t.enter()
	defer t.leave()
	return t.snapshot(), nil
}

// Trees implements [pathlock.Store].
func (s *Store) Trees(context.Context) ([]pathlock.Tree, error) {
	var trees []pathlock.Tree
	for _, t := range s.useAll() {
		t.enter()
		if len(t.owners) > 0 {
			trees = append(trees, t.tree)
		}
		t.leave()
		s.unuse(t)
	}
	return trees, nil
}

// Local implements [pathlock.LocalStore].
func (s *Store) Local() bool { return true }

// Ping implements [pathlock.Store]. It never fails.
func (s *Store) Ping(context.Context) error { return nil }

// use returns a tree's table, a new one if there is none. It is not forgotten until unuse is called.
func (s *Store) use(tree pathlock.Tree) *table {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tables[tree]
	if t == nil {
		t = s.newTable(tree)
		s.tables[tree] = t
	}
	t.users++
	return t
}

// newTable returns a table in which nobody holds anything. It expects mu to be locked.
func (s *Store) newTable(tree pathlock.Tree) *table {
	last := len(s.idle) - 1
	if last < 0 {
		return newTable(tree, &s.fences)
	}
	t := s.idle[last]
	s.idle = s.idle[:last]
	t.reset(tree)
	return t
}

// useAll is use for all trees that there are.
func (s *Store) useAll() []*table {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*table, 0, len(s.tables))
	for _, t := range s.tables {
		t.users++
		all = append(all, t)
	}
	return all
}

// unuse undoes use, and forgets the table if nobody uses it and nothing is in it.
func (s *Store) unuse(t *table) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.users--
	// Without users nobody else looks at the table: its own mutex need not be locked.
	if t.users == 0 && len(t.owners) == 0 {
		delete(s.tables, t.tree)
		if len(s.idle) < maxIdle && t.isSmall() {
			s.idle = append(s.idle, t)
		}
	}
}
