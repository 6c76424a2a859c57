package integration

import (
	"database/sql"
	"slices"
	"strconv"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
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
	must(t, db.Create(row).Error)
	return row
}

// livePaths are the paths of all live rows that the owner of the table sees.
func livePaths(t *testing.T, db *gorm.DB) []string {
	t.Helper()
	var paths []string
	must(t, db.Model(&gormplugintest.Branch{}).Order("path, id").Pluck("path", &paths).Error)
	return paths
}

// runAll runs statements that the plugin need not like.
func runAll(t *testing.T, db *gorm.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if err := gormplugin.AllowRawWrites(db).Exec(s).Error; err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// Verify names a policy, whether it hides single rows, which are left behind, or whole trees.
func TestPostgresPolicies(t *testing.T) {
	t.Parallel()
	const asUser = "SET LOCAL ROLE pg_monitor"
	rename := func(t *testing.T, db *gorm.DB) {
		root := branch(t, db, nil, "")
		a := branch(t, db, root, "a")
		x := branch(t, db, a, "x")
		runAll(t, db, "UPDATE branches SET note = 'secret' WHERE id = "+strconv.FormatInt(x.ID, 10))
		err := db.Transaction(func(tx *gorm.DB) error {
			runAll(t, tx, asUser)
			return gormplugin.Rename(tx, &gormplugintest.Branch{}, a.ID, "b")
		})
		must(t, err)
	}
	for _, c := range []struct {
		name       string
		statements []string
		paths      []string
		want       []treeschema.Check
	}{
		{
			name:       "a policy that hides rows",
			statements: []string{"CREATE POLICY open ON branches USING (note IS DISTINCT FROM 'secret')"},
			paths:      []string{"", "/a/x", "/b"},
			want:       []treeschema.Check{treeschema.RowSecurity},
		},
		{
			name:       "a policy that hides trees",
			statements: []string{"CREATE POLICY mine ON branches USING (tree_id = 1)"},
			paths:      []string{"", "/b", "/b/x"},
			want:       []treeschema.Check{treeschema.RowSecurity},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := databases.Postgres(t, databases.ByteOrder, nil)
			db := openMigrated(t, d.Dialector(sql.OpenDB(d.Connector)))
			runAll(t, db, append([]string{"GRANT ALL ON ALL TABLES IN SCHEMA public TO pg_monitor"}, c.statements...)...)
			runAll(t, db, "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO pg_monitor")
			runAll(t, db, "ALTER TABLE branches ENABLE ROW LEVEL SECURITY")
			rename(t, db)
			if got := livePaths(t, db); !slices.Equal(got, c.paths) {
				t.Errorf("the paths are %q, want %q", got, c.paths)
			}
			if err := db.Transaction(func(tx *gorm.DB) error {
				runAll(t, tx, asUser)
				finds(t, tx, c.want...)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}
