package pathlock

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock/internal/lease"
)

// Token names a detached hold: see [Lock.Detach]. It is text of letters, digits, dots, dashes and
// underscores, and names a hold in one tree. It is unguessable and never logged whole, because its
// bearer can use, prolong and end the hold. Its checksum distinguishes a text that was cut or
// mistyped from a token whose hold has ended.
type Token string

// errTokenLost says that a token's hold has ended. It precedes ErrLost where both are wrapped, so
// that [FailureOf] blames the hold and not the store.
var errTokenLost = FailureLockLost.New("pathlock: the hold that the token names has ended")

// newToken returns the token of a detached owner's hold in a tree.
func newToken(tree Tree, owner Owner) Token {
	encode := base64.RawURLEncoding.EncodeToString
	text := string(owner) + "." + encode([]byte(tree.namespace)) + "." + encode([]byte(tree.id))
	return Token(text + "." + checksum(text))
}

// checksum returns 48 bits of a text's SHA-256. It keeps no secret: the owner is what cannot be
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
	parts := strings.Split(string(t), ".")
	sound := len(parts) == 4 && isDetachedOwner(parts[0]) && parts[3] == checksum(strings.Join(parts[:3], "."))
	if !sound {
		return Tree{}, "", fmt.Errorf("%w: not of the form that Detach returns", ErrInvalidToken)
	}
	decode := base64.RawURLEncoding.Strict().DecodeString
	namespace, malformed := decode(parts[1])
	id, err := decode(parts[2])
	if malformed != nil || err != nil {
		return Tree{}, "", fmt.Errorf("%w: not of the form that Detach returns", ErrInvalidToken)
	}
	tree, err := NewTree(string(namespace), string(id))
	if err != nil {
		return Tree{}, "", fmt.Errorf("%w: %w", ErrInvalidToken, err)
	}
	return tree, Owner(parts[0]), nil
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

// transferToken asks the store for the hold that a token names, and sets its end to last from now
// unless that is 0.
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
