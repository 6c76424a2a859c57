package pathlock

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"strings"
)

// Token names a detached hold: see [Lock.Detach]. It is printable text of letters, digits, dots,
// dashes and underscores, good for one tree, and unguessable: whoever knows it can use, prolong and
// end the hold. It is never logged whole. It ends with a checksum, so that a text which was cut or
// mistyped is told from a token whose hold has ended.
type Token string

// errTokenLost is why a token is of no use any more. It stands before ErrLost: the caller's hold
// has ended, the store is well.
var errTokenLost = FailureLockLost.New("pathlock: the hold that the token names has ended")

// newToken returns the token of a detached owner in a tree.
func newToken(tree Tree, owner Owner) Token {
	encode := base64.RawURLEncoding.EncodeToString
	text := string(owner) + "." + encode([]byte(tree.namespace)) + "." + encode([]byte(tree.id))
	return Token(text + "." + checksum(text))
}

// checksum returns 48 bits of a text's SHA-256. It is no secret: what cannot be guessed is the
// owner.
func checksum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:6])
}

// Tree returns the tree that the token is good for. A text that is no token gives an error that
// matches [ErrInvalidToken].
func (t Token) Tree() (Tree, error) {
	tree, _, err := t.parse()
	return tree, err
}

// LogValue implements [slog.LogValuer], so that a token is never logged whole.
func (t Token) LogValue() slog.Value { return slog.StringValue(Owner(t).Short()) }

// parse takes a token apart.
func (t Token) parse() (Tree, Owner, error) {
	parts := strings.Split(string(t), ".")
	sound := len(parts) == 4 && isDetachedOwner(parts[0]) && parts[3] == checksum(strings.Join(parts[:3], "."))
	if !sound {
		return Tree{}, "", fmt.Errorf("%w: not of the form that Detach returns", ErrInvalidToken)
	}
	var names [2]string
	for i := range names {
		decoded, err := base64.RawURLEncoding.Strict().DecodeString(parts[i+1])
		if err != nil {
			return Tree{}, "", fmt.Errorf("%w: not of the form that Detach returns", ErrInvalidToken)
		}
		names[i] = string(decoded)
	}
	tree, err := NewTree(names[0], names[1])
	if err != nil {
		return Tree{}, "", fmt.Errorf("%w: %w", ErrInvalidToken, err)
	}
	return tree, Owner(parts[0]), nil
}

// ownerBytes is how long newOwner's text is: 26 characters of base32, 130 bits.
const ownerBytes = 26

// isDetachedOwner reports whether a text is what newDetachedOwner returns.
func isDetachedOwner(s string) bool {
	rest, ok := strings.CutPrefix(s, detachedMark)
	if !ok || len(rest) != ownerBytes {
		return false
	}
	for _, c := range rest {
		if (c < 'A' || c > 'Z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}
