package gormplugin

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
)

func TestTopmost(t *testing.T) {
	many := func(format string, n int) (paths []string) {
		for i := range n {
			paths = append(paths, fmt.Sprintf(format, i))
		}
		return paths
	}
	for _, c := range []struct {
		name  string
		paths []string
		want  string
	}{
		{"one", []string{"/a"}, "[/a]"},
		{"what lies below is covered", []string{"/a/b/c", "/a", "/a/b", "/a"}, "[/a]"},
		{"what only looks so is not", []string{"/a", "/a-b", "/ab", "/a/b"}, "[/a /a-b /ab]"},
		{"as many as are allowed", many("/a/%03d", maxClaims)[:2], "[/a/000 /a/001]"},
		{"too many become what they have in common", many("/a/b/%d/x", maxClaims+1), "[/a/b]"},
		{"few paths whose ancestors are too many do, too", many("/a/%d/b/c", 70), "[/a]"},
		{"even if that is the root", append(many("/a/%d", maxClaims), "/z"), "[/]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var paths []pathlock.Path
			for _, p := range c.paths {
				paths = append(paths, pathlock.MustParsePath(p))
			}
			if got := fmt.Sprint(topmost(paths)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

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
		{[]byte("x"), table.Bytes("x")},
		{table.Bytes("x"), table.Bytes("x")},
		{sql.NullInt64{}, nil},
		{&sql.NullString{String: "x", Valid: true}, "x"},
		{true, true},
		{moment, moment},
	} {
		if got, err := table.Plain(c.value); err != nil || got != c.want {
			t.Errorf("plain(%#v) = %#v, %v; want %#v", c.value, got, err, c.want)
		}
	}
	if _, err := table.Plain([]int{7}); err == nil {
		t.Error("a slice became a key")
	}
}
