package fsck

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/pathlock-go/pathlock/internal/treetable"
)

// Key is the value of a key column: the key of a row, of its parent, or of its tree. A Key is a
// whole number, a text (such as a UUID) or bytes. The zero Key stands for no key, such as the
// parent of a row at the top. Equal Keys are ==.
type Key struct {
	// v is nil, an int64, a string, a binaryKey or a topKey.
	v any
}

// topKey is what [Table.ParentTop] says of rows at the top: an int64 or a string.
type topKey struct{ v any }

// binaryKey is a key of bytes. It is a string, which is comparable.
type binaryKey string

// IntKey returns the key n.
func IntKey(n int64) Key { return Key{n} }

// TextKey returns the key s, such as a UUID.
func TextKey(s string) Key { return Key{s} }

// IsZero reports whether k is NULL, 0, an empty text, or no bytes.
func (k Key) IsZero() bool { return k.String() == "" || k == IntKey(0) }

// isFresh reports whether the key stands for one that the database has yet to generate.
func (k Key) isFresh() bool {
	_, fresh := k.v.(freshKey)
	return fresh
}

// String returns the key as an id path contains it, bytes in hexadecimal.
func (k Key) String() string {
	switch v := k.v.(type) {
	case nil:
		return ""
	case binaryKey:
		return fmt.Sprintf("%x", string(v))
	default:
		return fmt.Sprint(k.arg())
	}
}

// MarshalJSON writes a number as a number, a text as a string, bytes as a string in hexadecimal,
// and no key as null.
func (k Key) MarshalJSON() ([]byte, error) {
	if _, binary := k.v.(binaryKey); binary {
		return json.Marshal(k.String())
	}
	return json.Marshal(k.arg())
}

// numberKey reads a whole number.
func numberKey(text string) (Key, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return Key{n}, err == nil
}

// arg returns the key as an argument of a statement.
func (k Key) arg() any {
	switch v := k.v.(type) {
	case binaryKey:
		return []byte(v)
	case topKey:
		return v.v
	default:
		return v
	}
}

// value returns the key as the value of a change.
func (k Key) value() any {
	if k.v == nil {
		return nil
	}
	return k
}

// none reports whether k, as a parent, means that there is no parent.
func (k Key) none() bool {
	_, top := k.v.(topKey)
	return top || treetable.IsNoParent(k.arg())
}
