package table

import (
	"database/sql"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm/schema"
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

func TestAsFlag(t *testing.T) {
	type row struct {
		Gone  bool
		Count int8
	}
	parsed, err := schema.Parse(&row{}, new(sync.Map), schema.NamingStrategy{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		field          string
		assigned, want any
	}{{"Gone", 1, true}, {"Gone", int8(0), false}, {"Gone", true, true}, {"Gone", "1", "1"}, {"Count", true, 1}, {"Count", false, 0}, {"Count", 7, 7}, {"Count", nil, nil}} {
		if got := asFlag(parsed.LookUpField(c.field), c.assigned); got != c.want {
			t.Errorf("%v in %s: got %v, want %v", c.assigned, c.field, got, c.want)
		}
	}
}

func TestCheckMark(t *testing.T) {
	type row struct {
		Gone    bool
		Count   int8
		Pointer *int8
		Name    string
		At      time.Time
		Removed *time.Time
	}
	parsed, err := schema.Parse(&row{}, new(sync.Map), schema.NamingStrategy{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		field, when string
		taken       bool
	}{
		{"Gone", "", true}, {"Count", "", true}, {"Name", "", true}, {"Removed", "", true}, {"Pointer", "", false}, {"At", "", false},
		{"Count", "2", true}, {"Count", "02", false}, {"Count", "0", false}, {"Name", "archived", true}, {"Gone", "true", false}, {"Pointer", "2", false},
	} {
		if _, err := checkMark(parsed.LookUpField(c.field), c.when); (err == nil) != c.taken {
			t.Errorf("%s, when %q: %v", c.field, c.when, err)
		}
	}
}
