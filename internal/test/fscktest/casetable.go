package fscktest

import (
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/fsck"
)

// newCase creates the table that the words of a heading describe, with the columns of the steps.
func newCase(t *testing.T, database Database, words []string, steps string) *tableCase {
	t.Helper()
	is := make(map[string]string)
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		is[name] = value + " "
	}
	has := func(word string) bool { return is[word] != "" }
	set := func(column *string, word string) {
		if has(word) {
			*column = strings.TrimSpace(is[word])
		}
	}
	s := schema{unique: has("unique"), uniquePaths: has("unique-paths"), leaves: has("leaves"), table: func(d *fsck.Table) {
		set(&d.Path, "no-path")
		set(&d.Name, "no-name")
		set(&d.IDPath, "no-id-path")
		set(&d.PathForm, "path-form")
		set(&d.IDPathForm, "id-path-form")
		set(&d.Version, "version")
		set(&d.Depth, "depth")
		set(&d.DepthTop, "depth-top")
	}}
	if has("plain-keys") {
		s.key = "BIGINT"
	}
	if has("text-keys") {
		s.key = "VARCHAR(40) " + database.Binary
	}
	for line := range strings.Lines(steps) {
		if column, ok := strings.CutPrefix(line, "column "); ok {
			if text, here := ofDialect(database.Dialect, column); here {
				s.more += ", " + text
			}
		}
	}
	c := &tableCase{world: newWorld(t, database, s), unique: s.unique}
	if has("depth") {
		c.table.Leaves[0].Depth = c.table.Depth
	}
	if has("one-connection") {
		c.db.SetMaxOpenConns(1)
	}
	return c
}

// ofDialect returns SQL without the dialect that it may begin with, and whether it is for this one.
func ofDialect(dialect fsck.Dialect, text string) (sql string, here bool) {
	text = strings.TrimSpace(text)
	first, rest, _ := strings.Cut(text, " ")
	if slices.Contains([]fsck.Dialect{fsck.MySQL, fsck.PostgreSQL, fsck.SQLite}, fsck.Dialect(first)) {
		return rest, fsck.Dialect(first) == dialect
	}
	return text, true
}
