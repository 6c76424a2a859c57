package pathlock

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"strings"
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
