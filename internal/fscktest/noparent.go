package fscktest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/treerow"
)

// keyCase is a type of keys.
type keyCase struct {
	typ string
	// only are the databases that have the type; empty means all.
	only []fsck.Dialect
	// keys are three keys in their order, zeros the values that mean no parent.
	keys  [3]any
	zeros []any
}

func uuid(n int) string { return fmt.Sprintf("01a3b5c7-0000-7000-8000-%012d", n) }

// raw returns a key of 16 bytes. All bytes but the last are valid UTF-8.
func raw(last byte) []byte { return append([]byte("kkkkkkkkkkkkkkk"), last) }

var keyCases = []keyCase{
	{typ: "BIGINT", keys: [3]any{1, 2, 3}, zeros: []any{nil, 0}},
	{typ: "CHAR(36)", keys: [3]any{uuid(1), uuid(2), uuid(3)}, zeros: []any{nil, "", treerow.NilUUID}},
	{typ: "VARCHAR(36)", keys: [3]any{uuid(1), uuid(2), uuid(3)}, zeros: []any{nil, "", treerow.NilUUID, strings.Repeat("0", 32)}},
	{typ: "UUID", only: []fsck.Dialect{fsck.PostgreSQL}, keys: [3]any{uuid(1), uuid(2), uuid(3)}, zeros: []any{nil, treerow.NilUUID}},
	{
		typ: "BINARY(16)", only: []fsck.Dialect{fsck.MySQL}, keys: [3]any{raw(1), raw(2), raw(3)},
		zeros: []any{nil, []byte{}, make([]byte, 16)},
	},
	{typ: "BYTEA", only: []fsck.Dialect{fsck.PostgreSQL}, keys: [3]any{raw(1), raw(2), raw(0xff)}, zeros: []any{nil, []byte{}, make([]byte, 16)}},
	{typ: "BLOB", only: []fsck.Dialect{fsck.SQLite}, keys: [3]any{raw(1), raw(2), raw(0xff)}, zeros: []any{nil, []byte{}, make([]byte, 16)}},
	{typ: "UUID_TEXT", only: []fsck.Dialect{fsck.SQLite}, keys: [3]any{uuid(1), uuid(2), uuid(3)}, zeros: []any{nil, "", treerow.NilUUID}},
}

func (c keyCase) isOf(d fsck.Dialect) bool {
	return len(c.only) == 0 || slices.Contains(c.only, d)
}

// testNoParent has rows at the top whose parent is each value that the zero value of a parent field
// may become. They are sound, and no repair touches them. Cycles of such keys are repaired.
func testNoParent(t *testing.T, database Database) {
	for _, tt := range keyCases {
		if !tt.isOf(database.Dialect) {
			continue
		}
		typ := tt.typ
		if typ == "BIGINT" && database.Dialect == fsck.SQLite {
			typ = "INTEGER" // the only type for which SQLite generates keys
		}
		if typ == "CHAR(36)" || typ == "VARCHAR(36)" {
			typ += " " + database.Binary
		}
		for _, zero := range tt.zeros {
			t.Run(fmt.Sprintf("%s %#v", tt.typ, zero), func(t *testing.T) {
				w := oddWorld(t, database, columnTypes{key: typ, tree: typ})
				tree := tt.keys[2]
				w.put(t, tt.keys[0], tree, zero, "a", "/a")
				w.put(t, tt.keys[1], tree, tt.keys[0], "b", "/a/b")
				before := w.dump(t)
				if found := w.problems(t); len(found) > 0 {
					t.Errorf("found %v in a sound tree", found)
				}
				if w.repair(t, fsck.RepairOptions{Apply: true}); !maps.Equal(before, w.dump(t)) {
					t.Errorf("a repair made %v of %v", w.dump(t), before)
				}
				// The SQL condition agrees with the database.
				condition := treerow.Dialect(database.Dialect).
					NoParent("parent_id", treerow.KindOf(tt.typ))
				var tops int
				if err := w.db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM suites WHERE "+condition).Scan(&tops); err != nil || tops != 1 {
					t.Errorf("%d rows (%v) for which %s, want 1", tops, err, condition)
				}
				// A row that is created at the top gets the same parent value as the other rows
				// there.
				w.put(t, tt.keys[2], tree, tree, "c", "/c") // its own parent
				w.repair(t, fsck.RepairOptions{Apply: true})
				var nulls, want int
				if zero == nil {
					want = 2
				}
				if err := w.db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM suites WHERE parent_id IS NULL").Scan(&nulls); err != nil || nulls != want {
					t.Errorf("%d rows have the parent NULL (%v), want %d", nulls, err, want)
				}
				w.exec(t, `UPDATE suites SET parent_id = ? WHERE id = ?`, tt.keys[1], tt.keys[0])
				if b, binary := tt.keys[0].([]byte); binary { // locks and id paths have it in hexadecimal
					if found := w.problems(t); len(found) == 0 || found[0].ID.String() != fmt.Sprintf("%x", b) {
						t.Errorf("found %v, want the row %x", found, b)
					}
				}
				if _, summary := w.repair(t, fsck.RepairOptions{Apply: true}); summary.Before.Problems[fsck.Cycle] != 1 || summary.After.Total() > 0 {
					t.Errorf("before %v, left %v, want a cycle to be mended", summary.Before.Problems, summary.After.Problems)
				}
			})
		}
	}
}
