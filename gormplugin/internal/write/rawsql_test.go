package write

import (
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"github.com/pathlock-go/pathlock/internal/dialect"
)

func BenchmarkTripwire(b *testing.B) {
	w := &Engine{
		Guard:     &txn.Guard{Dialect: &dialect.Dialect{Name: "mysql"}},
		Catalogue: &table.Catalogue{Names: rawsql.NewNames(dialect.MySQL.Grammar, "suites", "cases", "folders")},
	}
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
