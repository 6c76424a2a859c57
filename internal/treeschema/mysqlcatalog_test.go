package treeschema

import (
	"database/sql"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/testserver"
)

// To describe a table, MariaDB opens the tables of its schema and no others: where a condition on
// the catalogue is not a constant, it opens all that the server has.
func TestMySQLCatalogReadsOneSchema(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		if server.Product != testserver.MariaDB {
			t.Skip("it has its catalogue in tables with indexes")
		}
		db, err := sql.Open("mysql", server.DSN+"mysql")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		for name, args := range map[string][]any{
			"mysql_table.sql":   slices.Repeat([]any{"", "user"}, 7),
			"mysql_indexes.sql": {"", "user"},
		} {
			query, err := sqlFiles.ReadFile("sql/" + name)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := rowsOf(t.Context(), db, "EXPLAIN "+string(query), args...)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, step := range plan {
				if extra := step["extra"]; !strings.Contains(extra, "Scanned ") || strings.Contains(extra, "Scanned all databases") {
					t.Errorf("%s: the plan is %v, want one that scans a database at most", name, step)
				}
			}
		}
	})
}
