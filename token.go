package pathlock

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock/internal/gincontext"
	"github.com/pathlock-go/pathlock/internal/lease"
)

// Token names a detached hold: see [Lock.Detach]. It is text of letters, digits, dots, dashes and
// underscores, and names a hold in one tree. It is unguessable and never logged whole, because its
// bearer can use, prolong and end the hold. Its checksum distinguishes a text that was cut or
// mistyped from a token whose hold has ended.
type Token string

// errTokenLost says that a token's hold has ended. It precedes ErrLost if both are wrapped, so that
// [FailureOf] blames the hold and not the store.
var errTokenLost = FailureLockLost.New("pathlock: the hold that the token names has ended")

// newToken returns the token of a detached owner's hold in a tree.
func newToken(tree Tree, owner Owner) Token {
	encode := base64.RawURLEncoding.EncodeToString
	text := string(owner) + "." + encode([]byte(tree.namespace)) + "." + encode([]byte(tree.id))
	return Token(text + "." + checksum(text))
}

// checksum returns 48 bits of a text's SHA-256. It need not be secret: the owner is what cannot be
// guessed.
func checksum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:6])
}

// Tree returns the tree that the token's hold is in. The error matches [ErrInvalidToken] if the
// text is no token.
func (t Token) Tree() (Tree, error) {
	tree, _, err := t.parse()
	return tree, err
}

// LogValue implements [slog.LogValuer]: a token is never logged whole.
func (t Token) LogValue() slog.Value { return slog.StringValue(Owner(t).Short()) }

// parse returns the tree and the owner of the token's hold.
func (t Token) parse() (Tree, Owner, error) {
	parts := append(strings.Split(string(t), "."), "", "", "")
	decode := base64.RawURLEncoding.Strict().DecodeString
	namespace, malformed := decode(parts[1])
	id, err := decode(parts[2])
	sound := len(parts) == 4+3 && isDetachedOwner(parts[0]) && parts[3] == checksum(strings.Join(parts[:3], "."))
	if !sound || malformed != nil || err != nil {
		return Tree{}, "", fmt.Errorf("%w: not of the form that Detach returns", ErrInvalidToken)
	}
	tree, err := NewTree(string(namespace), string(id))
	if err != nil {
		return Tree{}, "", fmt.Errorf("%w: %w", ErrInvalidToken, err)
	}
	return tree, Owner(parts[0]), nil
}

// AttachOption changes what [Locker.Attach] does.
type AttachOption func(*holding)

// WithoutRenewal leaves the end of the hold as it is.
func WithoutRenewal() AttachOption { return func(h *holding) { h.lease.Fixed = true } }

// Attach makes the hold that a token names a lock again, in this process. The process renews it as
// it does any other, for the lease that [WithLease] states, unless [WithoutRenewal] is given. An
// acquisition under the lock's context re-enters. What else it takes in the token's tree belongs to
// the hold's owner, and has a lease of its own, which this process renews as that of any other
// lock. If the process dies, what it took ends one lease later, and the hold lives on. What it took
// never outlives the hold. What it takes in other trees belongs to an owner of its own.
//
// Any number of processes may attach a token at once. In the token's tree they are one owner, and
// do not wait for each other. The first to release the lock ends the hold for all, as soon as
// nothing acquired under that lock's context is left. To leave the hold to its bearers, end the
// lock with [Lock.Detach], which keeps the token and the hold.
//
// The process looks at the hold in the store once a second, or at a third of the lease if that is
// earlier. Until then it does not know that another process has released or shortened the hold. If
// it cannot reach the store, it stays ignorant for at most one lease.
//
// docs/beyond-requests.md says what becomes of the hold when processes die.
//
// The error matches:
//   - [ErrInvalidToken] if the text is no token
//   - [ErrInvalidRequest] if [WithLease] states a lease shorter than [MinLease]
//   - [ErrLost] if the hold has ended
//   - [ErrUnavailable] if the store did not answer
//   - the context's cause when ctx has ended
func (l *Locker) Attach(ctx context.Context, token Token, opts ...AttachOption) (*Lock, error) {
	ctx = gincontext.Join(ctx)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("pathlock: attach: %w", withCause(ctx, ctx.Err()))
	}
	if err := checkLease(l.lease); err != nil {
		return nil, err
	}
	sent := time.Now()
	tree, owner, got, err := l.transferToken(ctx, "attach", token, 0)
	if err != nil {
		return nil, err
	}
	const unique = 12 // characters of 5 bits, which no two attached scopes share
	scope := &Scope{locker: l, owner: owner, prefix: rand.Text()[:unique] + "."}
	scope.elsewhere = l.newScope(Tree{})
	scope.elsewhere.face = scope
	lock := scope.holdToken(ctx, token, tree, got, sent, opts)
	lock.report(ctx, "Granted", Observer.Granted, 0, nil)
	return lock, nil
}

// holdToken enters what a token's owner holds, and returns the lock on it.
func (s *Scope) holdToken(ctx context.Context, token Token, tree Tree, got Transferred, sent time.Time, opts []AttachOption) *Lock {
	a := prepared{Request: Request{Tree: tree, Lease: min(s.locker.lease, Forever)}}
	a.observed = s.locker.observe(ctx, "")
	h := s.newHolding(tree)
	h.token, h.lease.Shared = token, true
	for _, opt := range opts {
		opt(h)
	}
	for _, t := range got.Grants {
		if t.Apart {
			continue // a process that has the hold attached took it for itself
		}
		g := newGrant(Acquisition{Grant: t.ID, Gate: t.Gate, Claims: t.Claims}, Grant{Fence: t.Fence})
		g.kept = true
		h.grants = append(h.grants, g)
		a.Gate = a.Gate || t.Gate
		a.Claims = append(a.Claims, t.Claims...)
		if a.Note == "" {
			a.Note = t.Note
		}
	}
	a.Claims = Normalize(a.Claims...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attached = h
	s.holdings = append(s.holdings, h)
	s.locker.renewer.Adopt(&h.lease, a.Lease, got.Left, sent)
	lock := h.addLock(ctx, &a, h.grants, false)
	lock.attached = true
	return lock
}

// Refresh sets the end of the hold that a token names to d from now, even if that is earlier than
// before, and returns the end. A process that has the hold attached with renewal keeps it alive
// until the lock's release, if its next look comes before the end: see [Locker.Attach]. Others that
// have it attached learn of an earlier end with their next look.
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

// ReleaseToken releases the hold that a token names. A process that has it attached loses its lock.
// Errors are those of [Locker.Attach].
func (l *Locker) ReleaseToken(ctx context.Context, token Token) error {
	tree, owner, err := token.parse()
	if err != nil {
		return err
	}
	if err := l.release(ctx, unneeded{tree: tree, owner: owner, id: everything}); err != nil {
		return tokenError("release", tree, err)
	}
	return nil
}

// transferToken asks the store for the hold that a token names, and makes it last that long from
// now unless last is 0.
func (l *Locker) transferToken(ctx context.Context, what string, token Token, last time.Duration) (Tree, Owner, Transferred, error) {
	tree, owner, err := token.parse()
	if err != nil {
		return Tree{}, "", Transferred{}, err
	}
	sent := time.Now()
	got, err := l.store.Transfer(ctx, Transfer{Tree: tree, From: owner, To: owner, Lease: last})
	if err == nil && time.Since(sent) >= got.Left {
		err = fmt.Errorf("%w: %s: %w", ErrLost, tree, lease.ErrEnded)
	}
	if err != nil {
		return Tree{}, "", Transferred{}, tokenError(what, tree, withCause(ctx, err))
	}
	return tree, owner, got, nil
}

// tokenError is the error of an operation on a token.
func tokenError(what string, tree Tree, err error) error {
	switch {
	case errors.Is(err, ErrNotHeld):
		err = fmt.Errorf("%w: %w: %w", errTokenLost, ErrLost, err)
	case errors.Is(err, ErrLost):
		err = fmt.Errorf("%w: %w", errTokenLost, err)
	}
	return fmt.Errorf("pathlock: %s in %s: %w", what, tree, err)
}
