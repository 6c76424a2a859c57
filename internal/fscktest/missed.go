package fscktest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/pathlock-go/pathlock/fsck"
)

// testLive has deletion marks of every type. The zero value means a live row.
func testLive(t *testing.T, database Database) {
	for _, tt := range []struct {
		typ  string
		only []fsck.Dialect
		live []any
		dead any
	}{
		{typ: "BIGINT", live: []any{nil, 0}, dead: 1735689600},
		{typ: "BOOLEAN", live: []any{nil, false}, dead: true},
		{typ: "BIT(1)", only: []fsck.Dialect{fsck.MySQL}, live: []any{nil, []byte{0}}, dead: []byte{1}},
		{typ: "VARCHAR(40)", live: []any{nil, ""}, dead: "2026-01-01"},
		{typ: "TIMESTAMP", live: []any{nil}, dead: "2026-01-01 00:00:00"},
		{typ: "TIMESTAMP", only: []fsck.Dialect{fsck.SQLite}, live: []any{0}, dead: 1735689600},
	} {
		if !(keyCase{only: tt.only}).isOf(database.Dialect) {
			continue
		}
		for _, live := range tt.live {
			t.Run(fmt.Sprintf("%s %v", tt.typ, live), func(t *testing.T) {
				w := oddWorld(t, database, columnTypes{mark: tt.typ})
				w.put(t, 1, 1, nil, "a", "/a")
				w.put(t, 2, 1, 99, "b", "/b")
				w.put(t, 3, 1, 98, "c", "/c")
				w.exec(t, `UPDATE suites SET deleted_at = ? WHERE id < 3`, live)
				w.exec(t, `UPDATE suites SET deleted_at = ? WHERE id = 3`, tt.dead)
				if found := w.kinds(t); !slices.Equal(found, []string{"orphan 2"}) {
					t.Errorf("with %#v for live rows and %#v for deleted ones, found %v, want the orphan 2", live, tt.dead, found)
				}
			})
		}
	}
}
