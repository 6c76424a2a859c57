package fscktest

import (
	"maps"
	"slices"
	"testing"

	"github.com/pathlock-go/pathlock/fsck"
)

// testFractions has keys with fractions, which SQLite allows even in integer columns. A repair
// reports and skips them, and repairs the rest.
func testFractions(t *testing.T, database Database) {
	types := columnTypes{key: "NUMERIC", tree: "BIGINT", parent: "NUMERIC"}
	if database.Dialect != fsck.SQLite {
		types = columnTypes{key: "DOUBLE PRECISION", tree: "DOUBLE PRECISION"}
	}
	w := oddWorld(t, database, types)
	w.put(t, 1, 7, nil, "a", "/wrong")
	w.put(t, 1.5, 7, 1, "b", "/wrong")
	w.put(t, 3, 7, 1.5, "c", "/wrong")
	w.put(t, 4, 7.25, nil, "d", "/wrong")
	w.put(t, 5, 7, nil, "a", "/wrong")
	w.put(t, 6.5, 7, nil, "a", "/a")
	w.put(t, 7, 8, nil, "e", "/wrong")
	want := []string{
		"wrong-path 1", "bad-key 1.5", "wrong-path 1.5", "wrong-path 3", "bad-key 4", "wrong-path 4", "wrong-path 5", "bad-key 6.5", "wrong-path 7",
		"duplicate 5", "duplicate 6.5",
	}
	if found := w.kinds(t); !slices.Equal(found[:min(len(found), len(want))], want) {
		t.Errorf("found %q, want %q", found, want)
	}
	mended := w.dump(t)
	maps.Copy(mended, map[string]string{
		"1": `"7" NULL "a" "/a"`, "3": `"7" "1.5" "c" "/a/b/c"`, "5": `"7" NULL "a (2)" "/a (2)"`, "7": `"8" NULL "e" "/e"`,
	})
	_, dry := w.repair(t, fsck.RepairOptions{})
	if dry.Before.Problems[fsck.BadKey] != 3 || dry.Skipped != 3 {
		t.Errorf("a dry run finds %v and skips %d", dry.Before.Problems, dry.Skipped)
	}
	if skips := w.skips(t, fsck.RepairOptions{BatchRows: 2}); len(skips) != 3 {
		t.Errorf("skipped %q, want the rows 1.5 and 6.5, and the tree 7.25", skips)
	}
	if got := w.dump(t); !maps.Equal(got, mended) {
		t.Errorf("mended\n%q, want\n%q", got, mended)
	}
	if left := w.kinds(t); !slices.Equal(left, []string{"bad-key 1.5", "wrong-path 1.5", "bad-key 4", "wrong-path 4", "bad-key 6.5", "duplicate 6.5", "mixed-prefix 1.5"}) {
		t.Errorf("left %q", left)
	}
}
