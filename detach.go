package pathlock

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/pathlock-go/pathlock/internal/carry"
)

// Detach ends the lock here and keeps what it holds in the store. From then on the hold belongs to
// no process, is renewed by nobody, and lives until its lease ends, which is as long from now as
// the request said: see [Request.Lease]. The token names the hold in any process: [Locker.Attach]
// makes it a lock again, [Locker.Refresh] sets another end, [Locker.ReleaseToken] releases it.
// [Lock.Until] tells when the hold ends.
//
// A lock that Attach has returned keeps its token, and the end that the lease has by then. So does
// one that was acquired under it in the same tree: what that has taken stays with the hold. Other
// locks may rely on either meanwhile. The store is asked only where what was taken has a lease of
// its own: see [WithoutRenewal].
//
// Detach takes at most five seconds. Any other lock must be all that its scope holds, and asks for,
// in its tree; otherwise the error matches [ErrInvalidRequest], and the lock stays as it is. The
// error matches [ErrNotHeld] when the lock has been released, [ErrLost] when it has been lost, and
// [ErrUnavailable] when the store did not answer: then the lock has to be released all the same.
// Where the store is no [TransferStore], the error matches [errors.ErrUnsupported], and the lock
// stays as it is.
func (k *Lock) Detach() (Token, error) {
	h := k.holding
	switch {
	case h.isShared():
		return k.leave()
	case h.base != nil:
		return k.stay()
	}
	if err := h.beginDetaching(k); err != nil {
		return "", err
	}
	token, err := k.handOut()
	if err != nil {
		h.stopDetaching()
		return "", err
	}
	if err := h.endDetaching(k); err != nil {
		return "", err
	}
	k.ctx.cancel(nil)
	k.tellReleased(context.Background(), nil)
	return token, nil
}

// leave lets go of a lock in the tree of a hold that has been attached, and leaves with the hold
// what the lock relies on, whoever else relies on that.
func (k *Lock) leave() (Token, error) {
	h := k.holding
	h.checkClock()
	if err := h.leave(k); err != nil {
		return "", err
	}
	k.ctx.cancel(nil)
	k.tellReleased(context.Background(), nil)
	return h.token, nil
}

// leave takes a lock off the holding; what it relies on stays held in the store.
func (h *holding) leave(lock *Lock) error {
	h.scope.mu.Lock()
	defer h.scope.mu.Unlock()
	if err := h.mayLeave(lock); err != nil {
		return err
	}
	lock.released = true
	for _, g := range lock.pins {
		g.kept = true
	}
	h.detach(lock)
	return nil
}

// mayLeave returns why nothing of a lock's can stay with the hold. It expects the scope's mutex to
// be locked.
func (h *holding) mayLeave(lock *Lock) error {
	switch {
	case lock.released || h.whole().spent:
		return fmt.Errorf("%w: this lock in %s has been released, or the hold has", ErrNotHeld, h.tree)
	case h.lost != nil:
		return h.lost
	}
	return nil
}

// handOut gives all that the lock's scope holds in the tree to an owner whose token it returns.
func (k *Lock) handOut() (Token, error) {
	h, owner := k.holding, newDetachedOwner()
	l := h.scope.locker
	store, ok := l.store.(TransferStore)
	if !ok {
		return "", fmt.Errorf("pathlock: detach in %s: the lock store keeps no hold without its process: %w", h.tree, errors.ErrUnsupported)
	}
	ctx, stop := context.WithTimeout(context.Background(), releaseTimeout)
	defer stop()
	// What the scope has let go of there, and is still being given back, is not to go along.
	if left := l.releases.in(h.tree).wait(ctx); left > 0 {
		return "", fmt.Errorf("%w: detach in %s: %d releases are under way", ErrUnavailable, h.tree, left)
	}
	sent := time.Now()
	got, err := transfer(ctx, store, Transfer{Tree: h.tree, From: h.scope.owner, To: owner, Lease: k.request.Lease})
	switch {
	case err == nil:
		k.until.Store(new(sent.Add(got.Left)))
		return newToken(h.tree, owner), nil
	case errors.Is(err, ErrLost):
		h.stopDetaching()
		h.lose(h.held(), errLeaseGone)
		return "", fmt.Errorf("pathlock: detach in %s: %w", h.tree, err)
	case errors.Is(err, errors.ErrUnsupported):
		return "", fmt.Errorf("pathlock: detach in %s: %w", h.tree, err)
	default:
		// Whether it has been handed over is not known; nobody will ever have the token.
		l.takeBackToken(h, owner, k.request.Lease, err)
		return "", fmt.Errorf("pathlock: detach in %s: %w", h.tree, err)
	}
}

// takeBackToken releases what an owner may have been given whose token nobody has got.
func (l *Locker) takeBackToken(h *holding, owner Owner, lease time.Duration, why error) {
	// The store has just failed: there is no use in waiting for it.
	l.releases.retry(l, debt{tree: h.tree, owner: owner, id: everything}, h.scope, lease, why)
}

// beginDetaching keeps everybody else from using the holding while its only lock is being detached.
func (h *holding) beginDetaching(lock *Lock) error {
	h.checkClock()
	s := h.scope
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case lock.released:
		return fmt.Errorf("%w: this lock in %s has been released", ErrNotHeld, h.tree)
	case h.lost != nil:
		return h.lost
	case len(h.locks) > 1 || h.detaching:
		return fmt.Errorf("%w: detach in %s: other locks of the scope rely on what it holds there", ErrInvalidRequest, h.tree)
	case s.isAsking(h.tree):
		return fmt.Errorf("%w: detach in %s: the scope asks for something else there", ErrInvalidRequest, h.tree)
	}
	h.detaching = true
	return nil
}

// stopDetaching undoes beginDetaching.
func (h *holding) stopDetaching() {
	h.scope.mu.Lock()
	defer h.scope.mu.Unlock()
	h.detaching = false
}

// endDetaching takes the holding's only lock off it, and the holding out of its scope.
func (h *holding) endDetaching(lock *Lock) error {
	h.scope.mu.Lock()
	defer h.scope.mu.Unlock()
	h.detaching = false
	switch {
	case h.lost != nil:
		return h.lost
	case lock.released:
		return fmt.Errorf("%w: this lock in %s has been released", ErrNotHeld, h.tree)
	}
	lock.released = true
	h.detach(lock)
	return nil
}

// Until returns the end of the lock's lease, as far as it is known here: the store's lease ends no
// earlier, unless somebody has the lock's token and sets an earlier end by [Locker.Refresh]. It
// moves with every renewal. After [Lock.Detach] it is the end of the detached hold.
func (k *Lock) Until() time.Time {
	if until := k.until.Load(); until != nil {
		return *until
	}
	return k.holding.renewer.until(k.holding)
}

// AttachOption changes what [Locker.Attach] does.
type AttachOption func(*attaching)

// WithoutRenewal leaves the hold the end that it has. What is acquired under the lock's context has
// a lease of its own, which this process renews as that of any other lock: should the process die,
// it ends one lease later, and the hold lives on. It lives no longer than the hold; such an
// acquisition waits for at most half of the time that is left.
func WithoutRenewal() AttachOption { return func(a *attaching) { a.unrenewed = true } }

// attaching is how a token is to be attached.
type attaching struct {
	unrenewed bool
}

// Attach makes the hold that a token names a lock again, in this process, which renews it from then
// on as it does any other, for the lease that [WithLease] states, unless [WithoutRenewal] says that
// it must not. An acquisition under the lock's context re-enters, and whatever else it takes in the
// token's tree belongs to the hold.
//
// Any number may attach a token at once: they are one owner, and don't wait for each other. The
// first to release the lock ends it for all. If you only want to have used the hold, let go by
// [Lock.Detach], which keeps the token and the hold.
//
// The process asks the store once a second, or at a third of the lease if that is earlier, whether
// the hold is still there. Until then it does not know that somebody else has released the hold or
// made it end earlier, and where the store cannot be reached, for at most one lease.
//
// The error matches [ErrInvalidToken], [ErrLost] if the hold has ended, or [ErrUnavailable]. Where
// the store is no [TransferStore], it matches [errors.ErrUnsupported].
func (l *Locker) Attach(ctx context.Context, token Token, opts ...AttachOption) (*Lock, error) {
	var how attaching
	for _, opt := range opts {
		opt(&how)
	}
	ctx = carry.Join(ctx, l.carrier)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("pathlock: attach: %w", told(ctx, ctx.Err()))
	}
	sent := time.Now()
	tree, owner, got, err := l.transferToken(ctx, "attach", token, 0)
	if err != nil {
		return nil, err
	}
	lock := l.newAttachedScope(owner).holdToken(ctx, token, tree, got, how, sent)
	returned := false
	defer func() {
		if !returned { // an observer has left the goroutine
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

// Refresh has the hold that a token names end after d from now, also earlier than it would have,
// and returns when that is. Where somebody has the hold attached with renewal, it lives on until
// that lock is released, if that process asks the store again before the end comes: see
// [Locker.Attach]. Others that have it attached learn of an earlier end when they ask next.
//
// Errors are those of [Locker.Attach], and match [ErrInvalidRequest] if d is shorter than
// [MinLease].
func (l *Locker) Refresh(ctx context.Context, token Token, d time.Duration) (until time.Time, err error) {
	d = min(d, Forever)
	if err := checkLease(d); err != nil {
		return time.Time{}, err
	}
	sent := time.Now()
	_, _, got, err := l.transferToken(ctx, "refresh", token, d)
	if err != nil {
		return time.Time{}, err
	}
	return sent.Add(got.Left), nil
}

// ReleaseToken releases the hold that a token names, in whatever process it is attached: there its
// lock is lost. Errors are those of [Locker.Attach].
func (l *Locker) ReleaseToken(ctx context.Context, token Token) error {
	tree, owner, err := token.parse()
	if err != nil {
		return err
	}
	if err := l.forceRelease(ctx, tree, owner); err != nil {
		return tokenError("release", tree, err)
	}
	if l.debugs(ctx) {
		report(ctx, l.log, slog.LevelDebug, "pathlock: released by token", "tree", tree, "owner", owner)
	}
	return nil
}

// transferToken asks the store for the hold that a token names, and has it end after lease unless
// that is 0.
func (l *Locker) transferToken(ctx context.Context, what string, token Token, lease time.Duration) (Tree, Owner, Transferred, error) {
	tree, owner, err := token.parse()
	if err != nil {
		return Tree{}, "", Transferred{}, err
	}
	store, ok := l.store.(TransferStore)
	if !ok {
		return Tree{}, "", Transferred{}, fmt.Errorf("pathlock: %s in %s: the lock store keeps no hold without its process: %w", what, tree, errors.ErrUnsupported)
	}
	sent := time.Now()
	got, err := transfer(ctx, store, Transfer{Tree: tree, From: owner, To: owner, Lease: lease})
	if err == nil && time.Since(sent) >= got.Left {
		err = fmt.Errorf("%w: %s: %w", ErrLost, tree, errLeaseEnded)
	}
	if err != nil {
		return Tree{}, "", Transferred{}, tokenError(what, tree, told(ctx, err))
	}
	return tree, owner, got, nil
}

// tokenError says what could not be done with a token.
func tokenError(what string, tree Tree, err error) error {
	switch {
	case errors.Is(err, ErrNotHeld):
		err = fmt.Errorf("%w: %w: %w", errTokenLost, ErrLost, err)
	case errors.Is(err, ErrLost):
		err = fmt.Errorf("%w: %w", errTokenLost, err)
	}
	return fmt.Errorf("pathlock: %s in %s: %w", what, tree, err)
}

// transfer has a store transfer a hold. A store that panics has failed.
func transfer(ctx context.Context, store TransferStore, t Transfer) (got Transferred, err error) {
	defer panicked(&err)
	return store.Transfer(ctx, t)
}

// forceRelease has the store take everything from an owner. A store that panics has failed.
func (l *Locker) forceRelease(ctx context.Context, tree Tree, owner Owner) (err error) {
	defer panicked(&err)
	return l.store.ForceRelease(ctx, tree, owner)
}
