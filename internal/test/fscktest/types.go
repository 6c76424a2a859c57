package fscktest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

func uuid(n int) string { return fmt.Sprintf("01a3b5c7-0000-7000-8000-%012d", n) }

// raw returns a key of 16 bytes. All bytes but the last are valid UTF-8.
func raw(last byte) []byte { return append([]byte("kkkkkkkkkkkkkkk"), last) }

// testTypes has keys of every type. Rows at the top whose parent is any value that the zero value
// of a parent field may become are sound, and no repair touches them. Cycles of such keys are
// repaired. That a database pads a CHAR(n) with spaces is no damage.
func testTypes(t *testing.T, database Database) {
	char := "CHAR(40) " + database.Binary
	d, err := dialect.Of(database.Dialect)
	testerr.Must(t, err)
	var uuids, binaries [3]any
	for i := range uuids {
		uuids[i], binaries[i] = uuid(i+1), raw([]byte{1, 2, 0xff}[i])
	}
	for _, tt := range []struct {
		// typ is "" for the usual one, and so is name.
		typ, name string
		// only is the database that has the type; "" means all.
		only fsck.Dialect
		// keys are three keys in their order, zeros the values that mean no parent.
		keys  [3]any
		zeros []any
	}{
		{keys: [3]any{1, 2, 3}, zeros: []any{nil, 0}},
		{typ: "CHAR(36) " + database.Binary, keys: uuids, zeros: []any{"", treetable.NilUUID}},
		{typ: "VARCHAR(36) " + database.Binary, keys: uuids, zeros: []any{nil, "", strings.Repeat("0", 32)}},
		{typ: char, name: char, keys: [3]any{"1", "2", "3"}, zeros: []any{nil}},
		{typ: "UUID", only: fsck.PostgreSQL, keys: uuids, zeros: []any{nil, treetable.NilUUID}},
		{typ: "BINARY(16)", only: fsck.MySQL, keys: binaries, zeros: []any{nil, make([]byte, 16)}},
		{typ: "BYTEA", only: fsck.PostgreSQL, keys: binaries, zeros: []any{[]byte{}, make([]byte, 16)}},
		{typ: "BLOB", only: fsck.SQLite, keys: binaries, zeros: []any{[]byte{}, make([]byte, 16)}},
	} {
		if tt.only != "" && tt.only != database.Dialect {
			continue
		}
		for _, zero := range tt.zeros {
			t.Run(fmt.Sprintf("%s %#v", tt.typ, zero), func(t *testing.T) {
				w := putWorld(t, database, schema{key: tt.typ, tree: tt.typ, name: tt.name})
				tree := tt.keys[2]
				w.put(t, tt.keys[0], tree, zero, "a", "/a")
				w.put(t, tt.keys[1], tree, tt.keys[0], "b c", "/a/b c")
				before := w.dump(t)
				if found := w.problems(t, fsck.Key{}); len(found) > 0 {
					t.Errorf("found %v in a sound tree", found)
				}
				if w.repair(t, fsck.RepairOptions{Apply: true}); !maps.Equal(before, w.dump(t)) {
					t.Errorf("a repair made %v of %v", w.dump(t), before)
				}
				count := func(condition string, want int) {
					t.Helper()
					var n int
					if err := w.db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM suites WHERE "+condition).Scan(&n); err != nil || n != want {
						t.Errorf("%d rows (%v) for which %s, want %d", n, err, condition, want)
					}
				}
				// The SQL condition agrees with the database.
				count(d.NoParentSQL("parent_id", dialect.KindOf(cmp.Or(tt.typ, "BIGINT"))), 1)
				// A row that is created at the top gets the same parent value as the other rows
				// there.
				w.put(t, tt.keys[2], tree, tree, "c", "/c") // its own parent
				w.repair(t, fsck.RepairOptions{Apply: true})
				count("parent_id IS NULL", map[bool]int{true: 2}[zero == nil])
				w.exec(t, `UPDATE suites SET parent_id = ? WHERE id = ?`, tt.keys[1], tt.keys[0])
				if b, binary := tt.keys[0].([]byte); binary { // locks and id paths have it in hexadecimal
					found := w.problems(t, fsck.TextKey(fmt.Sprintf("%x", tree)))
					if text, err := json.Marshal(found[0].ID); err != nil || string(text) != fmt.Sprintf("\"%x\"", b) {
						t.Errorf("found %v, and an id as %s (%v), want the row %x", found, text, err, b)
					}
				}
				if _, summary := w.repair(t, fsck.RepairOptions{Apply: true}); summary.Before.Problems[fsck.Cycle] != 1 || summary.After.Total() > 0 {
					t.Errorf("before %v, left %v, want a cycle to be mended", summary.Before.Problems, summary.After.Problems)
				}
			})
		}
	}
}

// testMarks has deletion marks of every type. The zero value means a live row.
func testMarks(t *testing.T, database Database) {
	for _, tt := range []struct {
		typ        string
		only       fsck.Dialect
		live, dead any
		when       string
	}{
		{typ: "BIGINT", live: 0, dead: 1735689600},
		{typ: "BOOLEAN", live: false, dead: true},
		{typ: "BIT(1)", only: fsck.MySQL, live: []byte{0}, dead: []byte{1}},
		{typ: "VARCHAR(40)", live: "", dead: "2026-01-01"},
		{typ: "CHAR(1)", live: "0", dead: "1"},
		{typ: "ENUM('0', '1')", only: fsck.MySQL, live: "0", dead: "1"},
		{typ: "TIMESTAMP", dead: "2026-01-01 00:00:00"},
		{typ: "BIGINT", live: 1, dead: 2, when: "2"},
		{typ: "VARCHAR(40)", live: "draft", dead: "archived", when: "archived"},
		{typ: "ENUM('draft', 'archived')", only: fsck.MySQL, live: "draft", dead: "archived", when: "archived"},
		{typ: "TIMESTAMP", only: fsck.SQLite, live: 0, dead: 1735689600},
	} {
		if tt.only != "" && tt.only != database.Dialect {
			continue
		}
		t.Run(fmt.Sprintf("%s %v", tt.typ, tt.live), func(t *testing.T) {
			w := putWorld(t, database, schema{mark: tt.typ})
			w.table.DeletedWhen = tt.when
			w.put(t, 1, 1, nil, "a", "/a")
			w.put(t, 2, 1, 99, "b", "/b")
			w.put(t, 3, 1, 98, "c", "/c")
			w.put(t, 4, 1, 1, "d", "/a/d")
			w.exec(t, `UPDATE suites SET deleted_at = ? WHERE id = 2`, tt.live)
			w.exec(t, `UPDATE suites SET deleted_at = ? WHERE id = 3`, tt.dead)
			if found := w.problems(t, fsck.Key{}); len(found) != 1 || found[0].Kind != fsck.Orphan || found[0].ID != fsck.IntKey(2) {
				t.Errorf("with %#v for live rows and %#v for deleted ones, found %v, want the orphan 2", tt.live, tt.dead, found)
			}
		})
	}
}
