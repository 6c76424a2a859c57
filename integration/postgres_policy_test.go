package integration

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/treeschema"
	"gorm.io/gorm"
)

// branch makes a row below a parent, or at the top.
func branch(t *testing.T, db *gorm.DB, parent *gormplugintest.Branch, name string) *gormplugintest.Branch {
	t.Helper()
	row := &gormplugintest.Branch{TreeID: 1, Name: name}
	if parent != nil {
		row.ParentID = &parent.ID
	}
	testerr.Must(t, db.Create(row).Error)
	return row
}

// runAll runs statements that the plugin need not like.
func runAll(t *testing.T, db *gorm.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		testerr.MustBe(t, s, gormplugin.AllowRawWrites(db).Exec(s).Error, nil)
	}
}

// Verify names a policy, which may hide rows from a user: they are left behind.
func TestVerify_PostgresPolicy(t *testing.T) {
	t.Parallel()
	d := databases.Postgres(t, databases.ByteOrder, nil)
	db := openMigrated(t, d)
	root := branch(t, db, nil, "")
	a := branch(t, db, root, "a")
	x := branch(t, db, a, "x")
	runAll(t, db,
		"UPDATE branches SET note = 'secret' WHERE id = "+strconv.FormatInt(x.ID, 10),
		"GRANT ALL ON ALL TABLES IN SCHEMA public TO pg_monitor", "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO pg_monitor",
		"CREATE POLICY open ON branches USING (note IS DISTINCT FROM 'secret')", "ALTER TABLE branches ENABLE ROW LEVEL SECURITY")
	finds(t, db) // the owner sees all rows
	testerr.Must(t, db.Transaction(func(tx *gorm.DB) error {
		runAll(t, tx, "SET LOCAL ROLE pg_monitor")
		if found := finds(t, tx, treeschema.RowSecurity); len(found) == 1 && (found[0].Severity != gormplugin.Warning || !strings.Contains(found[0].Missing, "cannot judge")) {
			t.Errorf("found %v, want a warning", found)
		}
		return gormplugin.Rename(tx, &gormplugintest.Branch{}, a.ID, "b")
	}))
	var paths []string
	testerr.Must(t, db.Model(&gormplugintest.Branch{}).Order("path, id").Pluck("path", &paths).Error)
	if want := []string{"", "/a/x", "/b"}; !slices.Equal(paths, want) {
		t.Errorf("the paths are %q, want %q", paths, want)
	}
}
