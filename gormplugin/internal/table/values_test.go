package table

import (
	"database/sql"
	"testing"
	"time"
)

func TestPlain(t *testing.T) {
	seven, moment := 7, time.Unix(7, 0)
	type id string
	for _, c := range []struct{ value, want any }{
		{nil, nil},
		{(*int)(nil), nil},
		{seven, int64(7)},
		{&seven, int64(7)},
		{uint8(7), int64(7)},
		{uint64(1) << 63, uint64(1) << 63},
		{id("x"), "x"},
		{[]byte("x"), Bytes("x")},
		{Bytes("x"), Bytes("x")},
		{sql.NullInt64{}, nil},
		{&sql.NullString{String: "x", Valid: true}, "x"},
		{true, true},
		{moment, moment},
	} {
		if got, err := Plain(c.value); err != nil || got != c.want {
			t.Errorf("plain(%#v) = %#v, %v; want %#v", c.value, got, err, c.want)
		}
	}
	if _, err := Plain([]int{7}); err == nil {
		t.Error("a slice became a key")
	}
}
