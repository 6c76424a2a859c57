package lockspec_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock/lockspec"
)

// What JSONText reads of a value is what JSONFields reads of a field that has the value.
func TestJSONTextIsTheTextOfAField(t *testing.T) {
	for _, tt := range []struct {
		value string
		text  string
		ok    bool
	}{
		{`"plain"`, "plain", true},
		{` "spaced" `, "spaced", true},
		{`""`, "", true},
		{`"\ud83d\ude00 \u00e9 \"\\\/\n"`, "😀 é \"\\/\n", true},
		{`"\ud83d"`, "", false},
		{`"\ude00\ud83d"`, "", false},
		{`"\ud83d\\ude00"`, "", false},
		{`7`, "", false},
		{`null`, "", false},
		{`["a"]`, "", false},
	} {
		text, err := lockspec.JSONText(json.RawMessage(tt.value))
		if text != tt.text || (err == nil) != tt.ok || err != nil && !errors.Is(err, lockspec.ErrInvalid) {
			t.Errorf("%s: got %q, %v, want %q, ok: %t", tt.value, text, err, tt.text, tt.ok)
		}
		field, _, err := lockspec.JSONField([]byte(`{"f":`+tt.value+`}`), "f")
		if tt.ok && (field != text || err != nil) {
			t.Errorf("%s: as a field it is %q, %v", tt.value, field, err)
		}
	}
	if text, err := lockspec.JSONText([]byte(`"not closed`)); !errors.Is(err, lockspec.ErrInvalid) {
		t.Errorf("a text that is not closed: %q, %v", text, err)
	}
}
