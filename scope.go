package pathlock

import (
	"context"
	"sync"
	"time"
)

// Scope is who holds: everything acquired under one scope has one [Owner] and
// never conflicts with itself. [Locker.Acquire] makes a scope when its context
// carries none, and [Lock.Context] carries it on; so most callers never see one.
// Ask for a scope by [Locker.Scope] where several acquisitions must belong together and none of
// their contexts descends from another's, such as the statements of one transaction.
type Scope struct {
	locker *Locker
	owner  Owner

	mu sync.Mutex
	// held has one holding per tree in which something is held.
	held map[Tree]*holding
}

// scopeKey is the context key of the scope of one locker: lockers on
// different stores do not know each other's holds.
type scopeKey struct{ locker *Locker }

// Scope returns the scope that ctx carries, or a new one that holds nothing.
func (l *Locker) Scope(ctx context.Context) *Scope {
	if s, ok := ctx.Value(scopeKey{l}).(*Scope); ok {
		return s
	}
	return &Scope{locker: l, owner: newOwner()}
}

// Context returns a context under which acquisitions belong to s. It ends when ctx ends, whatever becomes of s.
func (s *Scope) Context(ctx context.Context) context.Context {
	if ctx.Value(scopeKey{s.locker}) == s {
		return ctx
	}
	return context.WithValue(ctx, scopeKey{s.locker}, s)
}

// Owner returns who the scope's holds belong to.
func (s *Scope) Owner() Owner { return s.owner }

// reenter returns a lock on what a asks for if the scope's grants cover all
// of it, and nil otherwise.
func (s *Scope) reenter(ctx context.Context, a asked) *Lock {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.held[a.Tree]
	if h == nil {
		return nil
	}
	pins := h.covering(a)
	if pins == nil {
		return nil
	}
	return h.attach(ctx, a, pins, true)
}

// holding returns what the scope holds in a tree, nil if nothing.
func (s *Scope) holding(tree Tree) *holding {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held[tree]
}

// hold enters a grant that the store has made and returns the lock on it.
func (s *Scope) hold(ctx context.Context, a asked, acquisition Acquisition, granted Grant, sent time.Time) *Lock {
	g := &grant{id: acquisition.Grant, gate: a.Gate, modes: make(map[Path]Mode, len(acquisition.Claims)), fence: granted.Fence}
	for _, c := range acquisition.Claims {
		g.modes[c.Path] = c.Mode
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.held[a.Tree]
	if h == nil {
		h = &holding{scope: s, tree: a.Tree, locks: make(map[*Lock]struct{})}
		if s.held == nil {
			s.held = make(map[Tree]*holding)
		}
		s.held[a.Tree] = h
	}
	h.grants = append(h.grants, g)
	s.locker.renewer.extend(h, a.Lease, sent)
	return h.attach(ctx, a, []*grant{g}, false)
}
