package gormplugin

import (
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
)

// The quick search must never miss what the lexer would have found.
func TestTripwire(t *testing.T) {
	w := newTripwire(&rawsql.PostgreSQL, map[string]*table{"": {name: "public.suites"}, "c": {name: "Cases"}})
	for sql, table := range map[string]string{
		"UPDATE suites SET x = 1":              "suites",
		"UPDATE public.SUITES SET x = 1":       "SUITES",
		`DELETE FROM "cases"`:                  "cases",
		`DELETE FROM U&"c\0061ses"`:            `c\0061ses`,
		"DELETE FROM others":                   "",
		"UPDATE s SET suite = 1 -- case suite": "",
		"":                                     "",
	} {
		refused, _ := errors.AsType[*RawWriteError](w.trips(sql))
		if table == "" && refused != nil || table != "" && (refused == nil || refused.Table != table) {
			t.Errorf("%q: %v, want %q", sql, refused, table)
		}
	}
}

func BenchmarkTripwire(b *testing.B) {
	w := newTripwire(&rawsql.MySQL, map[string]*table{"s": {name: "suites"}, "c": {name: "cases"}, "f": {name: "folders"}})
	for name, sql := range map[string]string{
		"another table": "INSERT INTO `others` (`id`, `name`, `created_at`, `updated_at`) VALUES (?, ?, ?, ?) ON DUPLICATE KEY UPDATE name = VALUES(name), updated_at = VALUES(updated_at)",
		"a read":        "SELECT s.id, s.name FROM suites AS s WHERE s.plan_id = ? AND s.path >= ? AND s.path < ? ORDER BY s.path LIMIT 10",
		"a write":       "UPDATE suites SET name = ? WHERE id = ?",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_ = w.trips(sql)
			}
		})
	}
}
