package pathlock

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock/internal/carry"
)

// AttachOption changes what [Locker.Attach] does.
type AttachOption func(*attaching)

// WithoutRenewal leaves the hold the end that it has. What is acquired under the lock's context has
// a lease of its own, which this process renews as that of any other lock. If the process dies, it
// ends one lease later, and the hold lives on. It ends with the hold at the latest. Such an
// acquisition waits for at most half of the time that the hold has left.
func WithoutRenewal() AttachOption { return func(a *attaching) { a.unrenewed = true } }

// attaching is how to attach a token.
type attaching struct {
	unrenewed bool
}

// Attach makes the hold that a token names a lock again, in this process. The process renews it as
// it does any other, for the lease that [WithLease] states, unless [WithoutRenewal] is given. An
// acquisition under the lock's context re-enters, and what else it takes in the token's tree
// belongs to the hold.
//
// Any number of processes may attach a token at once. They are one owner, and do not wait for each
// other. The first to release the lock ends the hold for all, as soon as nothing acquired under
// that lock's context is left. To leave the hold to its bearers, end the lock with [Lock.Detach],
// which keeps the token and the hold.
//
// The process looks at the hold in the store once a second, or at a third of the lease if that is
// earlier. Until then it does not know that another process has released or shortened the hold. If
// it cannot reach the store, it stays ignorant for at most one lease.
//
// docs/beyond-requests.md says what becomes of the hold when processes die.
//
// The error matches:
//   - [ErrInvalidToken] if the text is no token
//   - [ErrLost] if the hold has ended
//   - [ErrUnavailable] if the store did not answer
//   - [errors.ErrUnsupported] where the store is no [TransferStore]
//   - the context's cause when ctx has ended
func (l *Locker) Attach(ctx context.Context, token Token, opts ...AttachOption) (*Lock, error) {
	var how attaching
	for _, opt := range opts {
		opt(&how)
	}
	ctx = carry.Join(ctx, l.carrier)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("pathlock: attach: %w", withCause(ctx, ctx.Err()))
	}
	sent := time.Now()
	tree, owner, got, err := l.transferToken(ctx, "attach", token, 0)
	if err != nil {
		return nil, err
	}
	lock := l.newAttachedScope(owner).holdToken(ctx, token, tree, got, how, sent)
	returned := false
	defer func() {
		if !returned { // an observer has ended the goroutine
			_, _ = lock.Detach()
		}
	}()
	if !l.observers.none() {
		l.observers.granted(ctx, lock.event())
	}
	if l.debugs(ctx) {
		report(ctx, l.log, slog.LevelDebug, "pathlock: attached", "tree", tree, "owner", owner, "fence", lock.fence, "note", lock.request.Note)
	}
	returned = true
	return lock, nil
}

// newAttachedScope returns a scope of an owner whose token others may have too.
func (l *Locker) newAttachedScope(owner Owner) *Scope {
	const unique = 12 // characters of 5 bits: no two attached scopes share their first ones
	return &Scope{locker: l, owner: owner, prefix: rand.Text()[:unique] + attachedMark}
}

// attachedMark is in the ids of grants acquired under an attached hold, and in no others.
const attachedMark = "."

// isOfAttached reports whether a grant was acquired under an attached hold.
func isOfAttached(id GrantID) bool { return strings.Contains(string(id), attachedMark) }

// holdToken enters what a token's owner holds, and returns the lock on it.
func (s *Scope) holdToken(ctx context.Context, token Token, tree Tree, got Transferred, how attaching, sent time.Time) *Lock {
	lock := &Lock{attached: true}
	if !s.locker.observers.none() {
		lock.origin = new(s.locker.origin(ctx, ""))
	}
	req := Request{Tree: tree, Lease: min(s.locker.lease, Forever)}
	h := s.newHolding(tree)
	h.token, h.unrenewed = token, how.unrenewed
	for _, t := range got.Grants {
		if t.Apart {
			continue // another user of the hold has taken it for itself
		}
		g := newGrant(Acquisition{Grant: t.ID, Gate: t.Gate, Claims: t.Claims}, Grant{Fence: t.Fence})
		g.borrowed = isOfAttached(t.ID)
		h.grants = append(h.grants, g)
		req.Gate = req.Gate || t.Gate
		req.Claims = append(req.Claims, t.Claims...)
		if req.Note == "" {
			req.Note, _ = unsealed(t.Note)
		}
	}
	req.Claims = Normalize(req.Claims...)
	lock.pins = append(lock.one[:0], h.grants...)
	watched := s.locker.watched(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attached = h
	s.holdings = append(s.holdings, h)
	s.locker.renewer.adopt(h, req.Lease, got.Left, sent)
	h.addLock(ctx, req, lock, watched)
	return lock
}
