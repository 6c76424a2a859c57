package pathlock

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock/internal/carry"
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
	// held has one holding per tree in which something is held: hardly ever more than a few.
	held []*holding
	// asked counts the requests that were sent to the store.
	asked int64
}

// scopeKey is the context key of the scope of one locker.
type scopeKey = carry.ScopeKey[Locker]

// Scope returns the scope that ctx carries, or a new one that holds nothing.
func (l *Locker) Scope(ctx context.Context) *Scope {
	if s := l.carried(ctx); s != nil {
		return s
	}
	return &Scope{locker: l, owner: newOwner()}
}

// carried returns the scope that ctx carries, nil if there is none.
func (l *Locker) carried(ctx context.Context) *Scope {
	if s, ok := ctx.Value(scopeKey{Locker: l}).(*Scope); ok {
		return s
	}
	if locks := carry.Context(ctx, l.carrier); locks != nil {
		s, _ := locks.Value(scopeKey{Locker: l}).(*Scope)
		return s
	}
	return nil
}

// Context returns a context under which acquisitions belong to s. It ends when ctx ends, whatever becomes of s.
func (s *Scope) Context(ctx context.Context) context.Context {
	if ctx.Value(scopeKey{Locker: s.locker}) == s {
		return ctx
	}
	return context.WithValue(ctx, scopeKey{Locker: s.locker}, s)
}

// Owner returns who the scope's holds belong to.
func (s *Scope) Owner() Owner { return s.owner }

// reenter returns a lock on what a asks for if the scope's grants cover all
// of it, and nil otherwise.
func (s *Scope) reenter(ctx context.Context, a asked, watched bool) *Lock {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.in(a.Tree)
	if h == nil {
		return nil
	}
	lock := &Lock{reentrant: true}
	if lock.pins = h.covering(a, lock.one[:0]); len(lock.pins) == 0 {
		return nil
	}
	h.attach(ctx, a, lock, watched)
	return lock
}

// holding returns what the scope holds in a tree, nil if nothing.
func (s *Scope) holding(tree Tree) *holding {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.in(tree)
}

// in is holding for those who have the mutex.
func (s *Scope) in(tree Tree) *holding {
	for _, h := range s.held {
		if h.tree == tree {
			return h
		}
	}
	return nil
}

// forget takes a holding out of the scope, if it is still in it.
func (s *Scope) forget(h *holding) {
	if i := slices.Index(s.held, h); i >= 0 {
		s.held = slices.Delete(s.held, i, i+1)
	}
}

// newGrantID returns an id that no other request of the owner has.
func (s *Scope) newGrantID() GrantID {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	return GrantID(strconv.FormatInt(s.asked, 10))
}

// hold enters a grant that the store has made and returns the lock on it.
func (s *Scope) hold(ctx context.Context, a asked, acquisition Acquisition, granted Grant, sent time.Time, watched bool) *Lock {
	g := newGrant(acquisition, granted)
	lock := &Lock{}
	lock.pins = append(lock.one[:0], g)
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.in(a.Tree)
	if h == nil {
		h = &holding{scope: s, tree: a.Tree}
		s.held = append(s.held, h)
	}
	h.grants = append(h.grants, g)
	s.locker.renewer.extend(h, a.Lease, sent)
	h.attach(ctx, a, lock, watched)
	return lock
}

// takeBack tells the store that nobody has what an acquisition may have been granted, which came to
// an end before its outcome was known.
func (s *Scope) takeBack(ctx context.Context, a Acquisition) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer stop()
	_ = s.locker.releaseGrant(ctx, a.Tree, a.Owner, a.Grant) // mostly there is none
}
