package treetable_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// These are types as models have them.
type (
	key    int64
	text   string
	binary [16]byte
)

func TestIsNoParent(t *testing.T) {
	zero, one := int64(0), int64(1)
	for _, tt := range []struct {
		what  string
		value any
		none  bool
	}{
		{"NULL", nil, true},
		{"a pointer to nothing", (*int64)(nil), true},
		{"the zero number", 0, true},
		{"the unsigned zero", uint64(0), true},
		{"a type of its own", key(0), true},
		{"a pointer to zero", &zero, true},
		{"the empty text", "", true},
		{"the empty text of another type", text(""), true},
		{"the nil UUID", treetable.NilUUID, true},
		{"the nil UUID without hyphens", strings.Repeat("0", 32), true},
		{"the nil UUID as a driver returns texts", []byte(treetable.NilUUID), true},
		{"the nil UUID as bytes", make([]byte, 16), true},
		{"the nil UUID as an array", binary{}, true},
		{"the nil UUID as bytes in a string", strings.Repeat("\x00", 16), true},
		{"no bytes", []byte{}, true},
		{"nil bytes", []byte(nil), true},
		{"BINARY(20) of zeros", make([]byte, 20), true},
		{"a number", 7, false},
		{"a negative number", int64(-1), false},
		{"a pointer to a number", &one, false},
		{"a text", "a", false},
		{"a text that looks like the zero number", "0", false},
		{"a text of zeros that is no UUID", "0000", false},
		{"a text of a space", " ", false},
		{"a UUID", "00000000-0000-0000-0000-000000000001", false},
		{"a UUID as bytes", append(make([]byte, 15), 1), false},
		{"a UUID as an array", binary{15: 1}, false},
		{"more zeros than any key has", make([]byte, 65), false},
	} {
		t.Run(tt.what, func(t *testing.T) {
			if none := treetable.IsNoParent(tt.value); none != tt.none {
				t.Errorf("IsNoParent(%#v) is %v", tt.value, none)
			}
		})
	}
}

func TestRowName(t *testing.T) {
	for _, tt := range []struct {
		what  string
		value any
		name  string
		err   error
	}{
		{what: "a name", value: "a", name: "a"},
		{what: "a name as a driver returns it", value: []byte("a"), name: "a"},
		{what: "the empty name", value: "", err: pathlock.ErrInvalidPath},
		{what: "NULL", value: nil, err: treetable.ErrNoName},
		{what: "NULL as a driver returns it", value: []byte(nil), err: treetable.ErrNoName},
		{what: "a number", value: 7, err: treetable.ErrNoName},
		{what: "a slash", value: "a/b", name: "a/b", err: pathlock.ErrInvalidPath},
		{what: "a NUL", value: "\x00", name: "\x00", err: pathlock.ErrInvalidPath},
		{what: "no UTF-8", value: []byte{0xff}, name: "\xff", err: pathlock.ErrInvalidPath},
	} {
		t.Run(tt.what, func(t *testing.T) {
			name, err := treetable.RowName(tt.value)
			if name != tt.name || !errors.Is(err, tt.err) {
				t.Errorf("Name is %q, %v; want %q, %v", name, err, tt.name, tt.err)
			}
		})
	}
}
