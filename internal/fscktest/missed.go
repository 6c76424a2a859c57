package fscktest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
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

// oddCase is a table with values that the tables of other tests cannot hold.
type oddCase struct {
	what  string
	types columnTypes
	rows  [][5]any
	// found has "kind id" for each problem, mended the values of the changed rows.
	found  []string
	mended map[string]string
	// left is the number of problems that cannot be repaired.
	left int
}

// testOdd has NULLs, and texts that SQL functions interpret.
func testOdd(t *testing.T, database Database) {
	cases := []oddCase{
		{
			what:  "a NULL name at the top is no root row's",
			rows:  [][5]any{{1, 1, nil, nil, ""}, {2, 1, nil, "a", "/a"}},
			found: []string{"bad-name 1"}, mended: map[string]string{"1": `"1" NULL "unnamed" "/unnamed"`},
		},
		{
			what:  "rows in no tree below one that is in one",
			rows:  [][5]any{{4, 7, nil, "a", "/a"}, {3, nil, 4, "b", "/a/b"}, {2, nil, 3, "c", "/a/b/c"}, {1, 7, 2, "d", "/a/b/c/d"}},
			found: []string{"orphan 1", "no-tree 2", "no-tree 3"},
			mended: map[string]string{
				"3": `"7" "4" "b" "/a/b"`, "2": `"7" "3" "c" "/a/b/c"`,
			},
		},
		{
			what:  "a row in no tree that closes a cycle",
			rows:  [][5]any{{1, 7, 2, "a", ""}, {2, nil, 1, "b", ""}, {3, 7, nil, "lost+found", "/lost+found"}},
			found: []string{"orphan 1", "no-tree 2"},
			mended: map[string]string{
				"1": `"7" "3" "a" "/lost+found/a"`, "2": `"7" "1" "b" "/lost+found/a/b"`,
			},
		},
		{
			what: "an empty tree id, beside a damaged tree", types: columnTypes{tree: "VARCHAR(20)"},
			rows:  [][5]any{{1, "", nil, "a", "/wrong"}, {2, "x", nil, "b", "/wrong"}},
			found: []string{"no-tree 1", "wrong-path 1", "wrong-path 2"},
			mended: map[string]string{
				"2": `"x" NULL "b" "/b"`,
			},
			left: 2,
		},
	}
	if database.Dialect != fsck.PostgreSQL { // PostgreSQL has no NUL in texts
		cases = append(cases, oddCase{
			what:  "a name that begins with NUL at the top is no root row's",
			rows:  [][5]any{{1, 1, nil, "\x00a", ""}, {2, 1, nil, "a", "/a"}},
			found: []string{"bad-name 1"}, mended: map[string]string{"1": `"1" NULL "_a" "/_a"`},
		})
	}
	for _, tt := range cases {
		t.Run(tt.what, func(t *testing.T) {
			w := oddWorld(t, database, tt.types)
			for _, r := range tt.rows {
				w.put(t, r[0], r[1], r[2], r[3], r[4])
			}
			if found := w.kinds(t); !slices.Equal(found, tt.found) {
				t.Errorf("found %q, want %q", found, tt.found)
			}
			want := w.dump(t)
			maps.Copy(want, tt.mended)
			_, dry := w.repair(t, fsck.RepairOptions{})
			_, summary := w.repair(t, fsck.RepairOptions{Apply: true, BatchRows: 2})
			if got := w.dump(t); !maps.Equal(got, want) {
				t.Errorf("mended\n%q, want\n%q", got, want)
			}
			if int(summary.After.Total()) != tt.left || int(dry.After.Total()) > tt.left {
				t.Errorf("left %v, and after a dry run %v, want %d", summary.After.Problems, dry.After.Problems, tt.left)
			}
			if skipped := int(summary.Skipped); skipped != min(1, tt.left) {
				t.Errorf("%d rows or trees skipped", skipped)
			}
		})
	}
}

// testNotUTF8 has a name that is not UTF-8. The log and the report hold its bytes.
func testNotUTF8(t *testing.T, database Database) {
	types := columnTypes{}
	var name any = []byte("b\xffd")
	switch database.Dialect {
	case fsck.MySQL:
		types.name = "VARBINARY(40)"
	case fsck.SQLite:
		name = "b\xffd"
	default:
		t.Skip("every text is UTF-8")
	}
	w := oddWorld(t, database, types)
	w.put(t, 1, 1, nil, name, "/x")
	var log bytes.Buffer
	var told []fsck.Problem
	_, summary := w.repair(t, fsck.RepairOptions{Apply: true, Log: &log, Report: func(p fsck.Problem) error { told = append(told, p); return nil }})
	if summary.After.Total() > 0 || w.dump(t)["1"] != `"1" NULL "b_d" "/b_d"` {
		t.Errorf("mended %v, left %v", w.dump(t), summary.After.Problems)
	}
	if len(told) == 0 || string(told[0].NameBytes) != "b\xffd" {
		t.Errorf("reported %+v", told)
	}
	var change struct {
		Old struct {
			Bytes []byte `json:"base64"`
		} `json:"old"`
		New string `json:"new"`
	}
	for line := range bytes.Lines(log.Bytes()) {
		if bytes.Contains(line, []byte(`"column":"name"`)) {
			if err := json.Unmarshal(line, &change); err != nil {
				t.Fatal(err)
			}
		}
	}
	if string(change.Old.Bytes) != "b\xffd" || change.New != "b_d" {
		t.Errorf("the log says %q -> %q:\n%s", change.Old, change.New, &log)
	}
}

// testHostile has texts that a terminal would interpret. Problems, written for people, escape them.
func testHostile(t *testing.T, database Database) {
	const hostile = "\x1b[2Jk\u202e\u009b"
	w := oddWorld(t, database, columnTypes{key: "VARCHAR(36) " + database.Binary, tree: "VARCHAR(36) " + database.Binary})
	w.put(t, hostile+"1", hostile, hostile+"2", hostile, hostile)
	for _, p := range w.problems(t) {
		if text := p.String(); strings.ContainsAny(text, "\x1b\u202e\u009b") || !strings.Contains(text, `\x1b[2Jk\u202e\u009b1`) {
			t.Errorf("a problem is written as %q", text)
		}
	}
}
