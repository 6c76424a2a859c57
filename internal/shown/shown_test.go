package shown_test

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/shown"
)

func TestText(t *testing.T) {
	for _, tt := range []struct{ what, text, want string }{
		{"a plain one", "/dir 1/dir2", "/dir 1/dir2"},
		{"a line break", "/a\nERROR forged", `/a\nERROR forged`},
		{"what turns the direction of writing", "/a\u202eb", `/a\u202eb`},
		{"invalid UTF-8", "/a\xff", `/a\xff`},
		{"81 bytes", strings.Repeat("a", 81), strings.Repeat("a", 80) + "…"},
		{"characters of three bytes, cut between two", strings.Repeat("录", 40), strings.Repeat("录", 26) + "…"},
	} {
		if got := shown.Text(tt.text); got != tt.want {
			t.Errorf("%s: Text(%q) = %q, want %q", tt.what, tt.text, got, tt.want)
		}
	}
}

func TestID(t *testing.T) {
	for _, tt := range []struct {
		what string
		id   any
		want string
	}{
		{"a pointer to a number", new(uint8(7)), "7"},
		{"a text", "7", `"7"`},
		{"a long text", strings.Repeat("录", 40), `"` + strings.Repeat("录", 26) + `…"`},
		{"bytes", []byte{0, 255}, "00ff"},
		{"none", nil, "NULL"},
		{"a pointer to none", new(*int64), "NULL"},
	} {
		if got := shown.ID(tt.id); got != tt.want {
			t.Errorf("%s: ID(%#v) = %s, want %s", tt.what, tt.id, got, tt.want)
		}
	}
}
