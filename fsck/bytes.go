package fsck

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Bytes is a text that is not UTF-8. In JSON it is {"base64":"…"}, since a JSON string cannot hold
// it.
type Bytes string

// MarshalJSON implements [json.Marshaler].
func (b Bytes) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(map[string][]byte{"base64": []byte(b)})
	if err != nil {
		return nil, fmt.Errorf("fsck: bytes as JSON: %w", err)
	}
	return text, nil
}

// lossless returns a text as a value that JSON can hold: a string, or [Bytes].
func lossless(text string) any {
	if utf8.ValidString(text) {
		return text
	}
	return Bytes(text)
}
