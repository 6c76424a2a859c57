package fsck

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Bytes is a text that is not UTF-8. In JSON it is {"base64":"…"}, since a JSON string cannot hold
// it.
type Bytes string

// encoded is the JSON of Bytes.
type encoded struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON implements [json.Marshaler].
func (b Bytes) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(encoded{[]byte(b)})
	if err != nil {
		return nil, fmt.Errorf("fsck: bytes as JSON: %w", err)
	}
	return text, nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (b *Bytes) UnmarshalJSON(text []byte) error {
	var e encoded
	if err := json.Unmarshal(text, &e); err != nil {
		return fmt.Errorf("fsck: bytes from JSON: %w", err)
	}
	*b = Bytes(e.Base64)
	return nil
}

// lossless returns a text as a value that JSON can hold: a string, or [Bytes].
func lossless(text string) any {
	if utf8.ValidString(text) {
		return text
	}
	return Bytes(text)
}
