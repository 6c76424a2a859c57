package plans_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/sample-app/internal/schema"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// The rows below a suite are one range of the index on path, even though the index holds only the
// beginnings of paths, and even for an UPDATE.
func TestSubtreeUsesPathIndex(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		db := testdb.Open(t, testdb.MySQL(t, server))
		if err := schema.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		var rows []string
		for n := range 2000 {
			rows = append(rows, fmt.Sprintf("(%d, 1, 'n%d', '/top%d/n%d')", 1+n%3, n, n%200, n))
		}
		for _, statement := range []string{
			`INSERT INTO suites (plan_id, parent_id, name, path) VALUES ` + strings.Join(rows, ","),
			`ANALYZE TABLE suites`, //nolint:misspell // as SQL spells it,
		} {
			if err := db.Write.Exec(statement).Error; err != nil {
				t.Fatal(err)
			}
		}
		for _, statement := range []string{
			`SELECT id, path FROM suites WHERE plan_id = 1 AND path >= '/top7/' AND path < '/top70' AND deleted_at IS NULL`,
			`UPDATE suites SET path = CONCAT('/new', SUBSTRING(path, 6)) WHERE plan_id = 1 AND path >= '/top7/' AND path < '/top70' AND deleted_at IS NULL`,
			`UPDATE suites SET deleted_at = NOW() WHERE plan_id = 1 AND path >= '/top7/' AND path < '/top70' AND deleted_at IS NULL`,
		} {
			plan := map[string]any{}
			if err := db.Write.Raw(`EXPLAIN FORMAT=TRADITIONAL ` + statement).Scan(&plan).Error; err != nil {
				t.Fatal(err)
			}
			if key := fmt.Sprint(plan["key"]); key != "suites_path" || fmt.Sprint(plan["type"]) != "range" {
				t.Errorf("%s\nuses the index %s by %v", statement, key, plan["type"])
			}
		}
	})
}
