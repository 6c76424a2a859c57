package integration

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/gormplugin/treeschema"
)

// PostgreSQL changes no column that something else uses: Verify says by what it is used, and
// proposes the statement as soon as nothing uses it.
func TestPostgresColumnsInUse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, make, drop, says string }{
		{"a view", "CREATE VIEW seen AS SELECT path FROM branches", "DROP VIEW seen", "view seen"},
		{"a generated column", "ALTER TABLE branches ADD COLUMN depth int GENERATED ALWAYS AS (length(path)) STORED", "ALTER TABLE branches DROP COLUMN depth", "generated column depth"},
		{
			"a trigger on the column", "CREATE TRIGGER same BEFORE UPDATE OF path ON branches FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
			"DROP TRIGGER same ON branches", "trigger same",
		},
		{
			"a trigger with a condition", "CREATE TRIGGER same BEFORE UPDATE ON branches FOR EACH ROW WHEN (old.path = new.path) EXECUTE FUNCTION suppress_redundant_updates_trigger()",
			"DROP TRIGGER same ON branches", "trigger same",
		},
		{"a policy", "CREATE POLICY mine ON branches USING (path <> 'x')", "DROP POLICY mine ON branches", "policy mine"},
		{"a function", "CREATE FUNCTION roots() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM branches WHERE path = ''; END", "DROP FUNCTION roots", "function roots"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := postgresDatabase(t, byteOrder, nil)
			db := openMigrated(t, d.Dialector(sql.OpenDB(d.Connector)))
			const change = `ALTER TABLE "branches" ALTER COLUMN "path" TYPE varchar(500) COLLATE "C"`
			runAll(t, db, `ALTER TABLE branches ALTER COLUMN path TYPE varchar(500) COLLATE "en-x-icu"`, c.make)
			if err := gormplugin.AllowRawWrites(db).Exec(change).Error; err == nil {
				t.Error("PostgreSQL changes the column all the same")
			}
			var named []treeschema.Check
			if strings.Contains(c.make, "TRIGGER") {
				named = []treeschema.Check{treeschema.Triggers}
			}
			found := finds(t, db, append([]treeschema.Check{treeschema.Collation}, named...)...)
			if len(found) == 0 || found[0].Statements != nil || !strings.Contains(found[0].Advice, c.says) || !strings.Contains(found[0].Advice, change) {
				t.Errorf("found %v, want the %s", found, c.says)
			}
			if err := gormplugin.AutoMigrate(db); err != nil {
				t.Errorf("AutoMigrate: %v", err)
			}
			runAll(t, db, c.drop, change, c.make)
			finds(t, db, named...)
		})
	}
}
