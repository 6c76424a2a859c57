package treetable_test

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/treetable"
)

// A key of zero, in whatever type a model or a driver has it, is none; anything else is one.
func TestIsNoParent(t *testing.T) {
	type key int64
	type text string
	type binary [16]byte
	for none, values := range map[bool][]any{
		true: {
			nil, 0, uint64(0), key(0), "", text(""), treetable.NilUUID, strings.Repeat("0", 32), strings.Repeat("\x00", 16), binary{},
			[]byte(treetable.NilUUID), make([]byte, 16), make([]byte, 20), []byte{}, []byte(nil),
		},
		false: {
			7, int64(-1), "a", "0", "0000", " ", "00000000-0000-0000-0000-000000000001", append(make([]byte, 15), 1), binary{15: 1},
			make([]byte, 65), // more than any key has
		},
	} {
		for _, value := range values {
			if treetable.IsNoParent(value) != none {
				t.Errorf("IsNoParent(%#v) is %t", value, !none)
			}
		}
	}
}
