package pathlock

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock/internal/gincontext"
)

// Scope is who holds. Everything acquired under one scope in a tree has one [Owner], and never
// conflicts with itself. [Locker.Acquire] makes a scope when its context carries none, and
// [Lock.Context] carries it on. So most callers never see one. Use [Locker.Scope] if several
// acquisitions belong together and none of their contexts descends from another's, such as the
// statements of one transaction.
type Scope struct {
	locker *Locker
	owner  Owner
	// prefix begins the scope's grant ids if other scopes have the same owner.
	prefix string
	// only is the one tree that the scope holds in, zero if it holds in any: see
	// [Request.OwnScope].
	only Tree
	// attached is the attached hold that the scope is for, nil if there is none. It stays when the
	// hold has ended. Then elsewhere is the scope in all trees but the hold's, where the bearers of
	// a token are strangers, and the scope is the face of that one: what contexts carry.
	attached        *holding
	elsewhere, face *Scope

	mu sync.Mutex
	// holdings has one holding per tree in which something is held: hardly ever more than a few.
	holdings   []*holding
	oneHolding [1]*holding // the backing array of holdings
	// grantIDs counts the ids that were given out.
	grantIDs int64
	// asking has the tree of each acquisition that the store has yet to answer. What it may already
	// have granted must not be detached with the rest.
	asking []Tree
	one    [1]Tree // the backing array of asking, which is hardly ever longer
}

// scopeKey is the context key of the scope of one locker. Lockers on different stores do not know
// each other's holds. A key has the shape of a pointer, so a look-up allocates nothing.
type scopeKey struct{ locker *Locker }

// Scope returns the scope that ctx carries, or a new one that holds nothing.
func (l *Locker) Scope(ctx context.Context) *Scope {
	if s := l.carried(ctx); s != nil {
		return s
	}
	return l.newScope(Tree{})
}

// newScope returns a scope that holds nothing, and will hold in only alone if that is not zero.
func (l *Locker) newScope(only Tree) *Scope {
	s := &Scope{locker: l, owner: newOwner(), only: only}
	s.holdings, s.asking = s.oneHolding[:0], s.one[:0]
	return s
}

// scopeOf returns the scope of a request under ctx, a joined context. It makes a new one if ctx
// carries none.
func (l *Locker) scopeOf(ctx context.Context, req Request) *Scope {
	if req.OwnScope {
		if s, ok := ctx.Value(treeScopeKey{l, req.Tree}).(*Scope); ok {
			return s
		}
	}
	s, _ := ctx.Value(scopeKey{l}).(*Scope)
	switch {
	// A hold in the tree that was attached, or acquired in another way, is the caller's own.
	case s != nil && (!req.OwnScope || s.isAttachedIn(req.Tree) || s.in(req.Tree).holding(req.Tree) != nil):
		return s.in(req.Tree)
	case req.OwnScope:
		return l.newScope(req.Tree)
	default:
		return l.newScope(Tree{})
	}
}

// in returns the scope that holds in a tree for s.
func (s *Scope) in(tree Tree) *Scope {
	if s.attached != nil && s.attached.tree != tree {
		return s.elsewhere
	}
	return s
}

// treeScopeKey is the context key of a scope that holds in one tree alone.
type treeScopeKey struct {
	locker *Locker
	tree   Tree
}

// carried returns the scope that ctx carries, nil if it carries none.
func (l *Locker) carried(ctx context.Context) *Scope {
	s, _ := gincontext.Lookup(ctx, scopeKey{l}).(*Scope)
	return s
}

// Context returns a context under which acquisitions belong to s. It ends with ctx alone.
func (s *Scope) Context(ctx context.Context) context.Context {
	if ctx.Value(scopeKey{s.locker}) == s {
		return ctx
	}
	return context.WithValue(ctx, scopeKey{s.locker}, s)
}

// Owner returns the owner of the scope's holds. If [Locker.Attach] has made the scope, that is the
// owner in the token's tree.
func (s *Scope) Owner() Owner { return s.owner }

// reenter returns a lock on what a asks for if the scope's grants cover all of it. Otherwise it
// returns nil: the caller asks the store.
func (s *Scope) reenter(ctx context.Context, a *prepared) (*Lock, error) {
	s.mu.Lock()
	h := s.find(a.Tree)
	// Whoever asks under a lock's own context has looked at the clock by asking for its error.
	if own, ok := ctx.(*lockContext); h != nil && (!ok || own.holding != h) && h.hasEnded() {
		// The observers that checkClock calls may use the scope.
		s.mu.Unlock()
		h.checkClock()
		if err := h.whyLost(); err != nil {
			return nil, err
		}
		s.mu.Lock()
		h = s.find(a.Tree)
	}
	defer s.mu.Unlock()
	if h == nil || h.detaching { // beginAsking refuses it then
		return nil, nil
	}
	var one [1]*grant
	if pins := h.covering(a, one[:0]); len(pins) > 0 {
		if !a.Asserted && isDegraded(pins) {
			return nil, errUnasserted
		}
		return h.addLock(ctx, a, pins, true), nil
	}
	for _, part := range h.parts {
		if part.hasEnded() {
			continue
		}
		if pins := part.covering(a, one[:0]); len(pins) > 0 {
			return part.addLock(ctx, a, pins, true), nil
		}
	}
	return nil, nil
}

// holding returns what the scope holds in a tree, nil if it holds nothing there.
func (s *Scope) holding(tree Tree) *holding {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find(tree)
}

// find is holding for callers that have locked the mutex.
func (s *Scope) find(tree Tree) *holding {
	for _, h := range s.holdings {
		if h.tree == tree {
			return h
		}
	}
	return nil
}

// newHolding returns a holding that is not in the scope yet.
func (s *Scope) newHolding(tree Tree) *holding {
	h := &holding{scope: s, tree: tree}
	h.lease.Holder, h.grants, h.locks = h, h.oneGrant[:0], h.oneLock[:0]
	return h
}

// forget takes a holding out of the scope, if it is still in it.
func (s *Scope) forget(h *holding) {
	if i := slices.Index(s.holdings, h); i >= 0 {
		s.holdings = slices.Delete(s.holdings, i, i+1)
	}
}

// errDetaching refuses an acquisition in a tree in which the scope's only lock is being detached.
var errDetaching = fmt.Errorf("%w: what the scope holds in the tree is being detached", ErrInvalidRequest)

// beginAsking notes that the store is asked for something in a tree, until endAsking.
func (s *Scope) beginAsking(tree Tree) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.find(tree); h != nil && h.detaching {
		return errDetaching
	}
	s.asking = append(s.asking, tree)
	return nil
}

// endAsking undoes beginAsking.
func (s *Scope) endAsking(tree Tree) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.asking, tree)
	s.asking = slices.Delete(s.asking, i, i+1)
}

// newGrantID returns an id that no other request of the owner has.
func (s *Scope) newGrantID() GrantID {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grantIDs++
	return GrantID(s.prefix + strconv.FormatInt(s.grantIDs, 10))
}

// hold enters a grant that the store has made, and returns the lock on it. If the lease has ended
// by the clock, it enters nothing, and the error matches ErrLost. It also matches ErrLost, and
// ErrUnavailable too, if the store has made either this grant or what the scope holds in the tree,
// but not both: they were asked for at once while the store was failing or coming back.
func (s *Scope) hold(ctx context.Context, a *prepared, acquisition Acquisition, granted Grant, askedAt time.Time) (*Lock, error) {
	g := newGrant(acquisition, granted)
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.find(a.Tree)
	if acquisition.Apart {
		if err := s.attached.alive(); err != nil {
			return nil, err
		}
		h = nil
	}
	if h != nil && h.hasEnded() {
		_ = h.expire()
		s.forget(h)
		h = nil
	}
	if h != nil && isDegraded(h.grants) != g.degraded {
		return nil, errHalfDegraded
	}
	isNew := h == nil
	if isNew {
		h = s.newHolding(a.Tree)
	}
	if acquisition.Apart {
		h.partOf(s.attached, g.id)
	}
	if !s.locker.renewer.Extend(&h.lease, acquisition.Lease, askedAt) {
		h.leaveBase()
		return nil, h.lostError(errLate)
	}
	if isNew && h.base == nil {
		s.holdings = append(s.holdings, h)
	}
	h.grants = append(h.grants, g)
	return h.addLock(ctx, a, []*grant{g}, false), nil
}
