package pathlock

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock/internal/carry"
)

// Scope is who holds: everything acquired under one scope has one [Owner] and never conflicts with
// itself. [Locker.Acquire] makes a scope when its context carries none, and [Lock.Context] carries
// it on; so most callers never see one. Ask for a scope by [Locker.Scope] where several
// acquisitions must belong together and none of their contexts descends from another's, such as the
// statements of one transaction.
type Scope struct {
	locker *Locker
	owner  Owner
	// prefix begins the scope's grant ids, where other scopes have the same owner.
	prefix string
	// attached is the hold whose token the scope has been made for, nil where there is none. It
	// stays when the hold has ended.
	attached *holding

	mu sync.Mutex
	// held has one holding per tree in which something is held: hardly ever more than a few.
	held []*holding
	// asked counts the requests that were sent to the store.
	asked int64
	// asking has the tree of each request that is under way to the store, and oneAsked is where it
	// is, since there is hardly ever a second.
	asking   []Tree
	oneAsked [1]Tree
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

// Context returns a context under which acquisitions belong to s. It ends when ctx ends, whatever
// becomes of s.
func (s *Scope) Context(ctx context.Context) context.Context {
	if ctx.Value(scopeKey{Locker: s.locker}) == s {
		return ctx
	}
	return context.WithValue(ctx, scopeKey{Locker: s.locker}, s)
}

// Owner returns who the scope's holds belong to.
func (s *Scope) Owner() Owner { return s.owner }

// reenter returns a lock on what a asks for if the scope's grants cover all of it. Otherwise the
// store is to be asked, until the caller calls endAsking.
func (s *Scope) reenter(ctx context.Context, a asked, watched bool) (*Lock, error) {
	s.mu.Lock()
	if h := s.in(a.Tree); h != nil && s.locker.renewer.ended(h) {
		// Those whom checkClock tells of the end may call the scope.
		s.mu.Unlock()
		h.checkClock()
		if err := h.whyLost(); err != nil {
			return nil, err
		}
		s.mu.Lock()
	}
	defer s.mu.Unlock()
	return s.cover(ctx, a, watched)
}

// cover is reenter where the clock has been looked at. It expects the mutex to be locked.
func (s *Scope) cover(ctx context.Context, a asked, watched bool) (*Lock, error) {
	if h := s.in(a.Tree); h != nil {
		if h.detaching {
			return nil, fmt.Errorf("%w: what the scope holds in %s is being detached", ErrInvalidRequest, a.Tree)
		}
		lock := &Lock{reentrant: true}
		if lock.pins = h.covering(a, lock.one[:0]); len(lock.pins) > 0 {
			h.attach(ctx, a.Request, lock, watched)
			return lock, nil
		}
		for _, part := range h.parts {
			if s.locker.renewer.ended(part) {
				continue
			}
			if lock.pins = part.covering(a, lock.one[:0]); len(lock.pins) > 0 {
				part.attach(ctx, a.Request, lock, watched)
				return lock, nil
			}
		}
	}
	if s.asking == nil {
		s.asking = s.oneAsked[:0]
	}
	s.asking = append(s.asking, a.Tree)
	return nil, nil
}

// isAsking reports whether a request in a tree is under way. It expects the mutex to be locked.
func (s *Scope) isAsking(tree Tree) bool { return slices.Contains(s.asking, tree) }

// endAsking says that a request in a tree has come to its end.
func (s *Scope) endAsking(tree Tree) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, last := slices.Index(s.asking, tree), len(s.asking)-1
	s.asking[i] = s.asking[last]
	s.asking = s.asking[:last]
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

// newHolding makes a holding, which is not in the scope yet.
func (s *Scope) newHolding(tree Tree) *holding {
	return &holding{scope: s, tree: tree, renewer: &s.locker.renewer, observers: &s.locker.observers}
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
	return GrantID(s.prefix + strconv.FormatInt(s.asked, 10))
}

// hold enters a grant that the store has made and returns the lock on it. If the lease has ended by
// the clock, nothing is entered, and the error matches ErrLost.
func (s *Scope) hold(ctx context.Context, a asked, acquisition Acquisition, granted Grant, asked time.Time, watched bool) (*Lock, error) {
	r := &s.locker.renewer
	g := newGrant(acquisition, granted)
	lock := &Lock{}
	lock.pins = append(lock.one[:0], g)
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.in(a.Tree)
	if acquisition.Apart {
		if err := s.attached.alive(); err != nil {
			return nil, err
		}
		h = nil
	}
	if h != nil && r.ended(h) {
		lost := r.expire(h)
		if h.isOfToken() {
			return nil, lost // what is granted now belongs to the same hold
		}
		s.forget(h)
		h = nil
	}
	isNew := h == nil
	if isNew {
		h = s.newHolding(a.Tree)
	}
	if acquisition.Apart {
		h.partOf(s.attached, g.id)
	}
	r.extend(h, acquisition.Lease, asked)
	if r.ended(h) {
		r.forget(h)
		h.leaveBase()
		return nil, h.loss(errLate)
	}
	if isNew && h.base == nil {
		s.held = append(s.held, h)
	}
	h.grants = append(h.grants, g)
	h.attach(ctx, a.Request, lock, watched)
	return lock, nil
}

// newAttachedScope returns a scope of an owner whose token others may have, too.
func (l *Locker) newAttachedScope(owner Owner) *Scope {
	const unlikely = 12 // characters of 5 bits that two who attach at once don't have in common
	return &Scope{locker: l, owner: owner, prefix: rand.Text()[:unlikely] + attachedMark}
}

// attachedMark is in the ids of grants that were asked for under an attached hold, and in no
// others.
const attachedMark = "."

// isOfAttached reports whether a grant was asked for under an attached hold.
func isOfAttached(id GrantID) bool { return strings.Contains(string(id), attachedMark) }

// holdToken enters what the store says that a token's owner holds, and returns the lock on it.
func (s *Scope) holdToken(ctx context.Context, token Token, tree Tree, got Transferred, how attaching, sent time.Time) *Lock {
	lock := &Lock{attached: true}
	req := Request{Tree: tree, Lease: min(s.locker.lease, Forever)}
	h := s.newHolding(tree)
	h.token, h.unrenewed = token, how.unrenewed
	for _, t := range got.Grants {
		if t.Apart {
			continue // it is that of a request which uses the hold now, and ends with that
		}
		g := newGrant(Acquisition{Grant: t.ID, Gate: t.Gate, Claims: t.Claims}, Grant{Fence: t.Fence})
		g.borrowed = isOfAttached(t.ID)
		h.grants = append(h.grants, g)
		req.Gate = req.Gate || t.Gate
		req.Claims = append(req.Claims, t.Claims...)
		if req.Note == "" {
			req.Note = t.Note
		}
	}
	req.Claims = Normalize(req.Claims...)
	lock.pins = append(lock.one[:0], h.grants...)
	watched := s.locker.watched(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attached = h
	s.held = append(s.held, h)
	s.locker.renewer.adopt(h, req.Lease, got.Left, sent)
	h.attach(ctx, req, lock, watched)
	return lock
}

// takeBack tells the store that nobody has what an acquisition may have been granted, which came to
// an end before its outcome was known.
func (s *Scope) takeBack(ctx context.Context, a Acquisition) {
	s.locker.settle(ctx, debt{tree: a.Tree, owner: a.Owner, id: a.Grant}, s, a.Lease) // mostly there is none
}
