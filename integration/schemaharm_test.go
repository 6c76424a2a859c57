package integration

import (
	"database/sql"
	"slices"
	"strconv"
	"testing"

	"github.com/ncruces/go-sqlite3/gormlite"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/gormplugintest"
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
	if err := db.Create(row).Error; err != nil {
		t.Fatal(err)
	}
	return row
}

// livePaths are the paths of all live rows that the owner of the table sees.
func livePaths(t *testing.T, db *gorm.DB) []string {
	t.Helper()
	var paths []string
	if err := db.Model(&gormplugintest.Branch{}).Order("path, id").Pluck("path", &paths).Error; err != nil {
		t.Fatal(err)
	}
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

// What Verify finds unsafe, or names, in a table of PostgreSQL can do harm: here each does.
func TestPostgresHarm(t *testing.T) {
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
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name       string
		statements []string
		do         func(t *testing.T, db *gorm.DB)
		paths      []string
		want       []treeschema.Check
	}{
		{
			name:       "a policy that hides rows",
			statements: []string{"CREATE POLICY open ON branches USING (note IS DISTINCT FROM 'secret')"},
			do:         rename,
			paths:      []string{"", "/a/x", "/b"},
			want:       []treeschema.Check{treeschema.RowSecurity},
		},
		{
			name:       "a policy that hides trees",
			statements: []string{"CREATE POLICY mine ON branches USING (tree_id = 1)"},
			do:         rename,
			paths:      []string{"", "/b", "/b/x"},
		},
		{
			name:       "a table that inherits",
			statements: []string{"CREATE POLICY all_rows ON branches USING (true)", "CREATE TABLE heirs () INHERITS (branches)"},
			do: func(t *testing.T, db *gorm.DB) {
				root := branch(t, db, nil, "")
				runAll(t, db, "INSERT INTO heirs (tree_id, parent_id, name, path) VALUES (1, "+strconv.FormatInt(root.ID, 10)+", 'a', '/a')")
				branch(t, db, root, "a")
			},
			paths: []string{"", "/a", "/a"},
			want:  []treeschema.Check{treeschema.Inheritance},
		},
		{
			name: "a trigger that selects into the new row",
			statements: []string{
				"CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN SELECT new.path || '!' INTO new.path; RETURN new; END $$",
				"CREATE TRIGGER meddle BEFORE UPDATE ON branches FOR EACH ROW WHEN (old.path <> new.path) EXECUTE FUNCTION meddle()",
			},
			do:    rename,
			paths: []string{"", "/b!", "/b/x!"},
			want:  []treeschema.Check{treeschema.Triggers},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := postgresDatabase(t, byteOrder, nil)
			db := openMigrated(t, d.Dialector(sql.OpenDB(d.Connector)))
			runAll(t, db, append([]string{"GRANT ALL ON ALL TABLES IN SCHEMA public TO pg_monitor"}, c.statements...)...)
			runAll(t, db, "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO pg_monitor")
			if c.want == nil || c.want[0] == treeschema.RowSecurity {
				runAll(t, db, "ALTER TABLE branches ENABLE ROW LEVEL SECURITY")
			}
			c.do(t, db)
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

// What Verify finds unsafe in a table of SQLite does harm.
func TestSQLiteHarm(t *testing.T) {
	t.Parallel()
	t.Run("ON CONFLICT REPLACE", func(t *testing.T) {
		db := openMigrated(t, gormlite.Open(fileName(t, "&_txlock=immediate")))
		runAll(t, db, "DROP TABLE branches",
			"CREATE TABLE branches (id INTEGER PRIMARY KEY, tree_id INT, parent_id INT, name TEXT, path TEXT, note TEXT, deleted DATETIME, UNIQUE (tree_id, path) ON CONFLICT REPLACE)")
		root := branch(t, db, nil, "")
		first := branch(t, db, root, "a")
		branch(t, db, first, "x")
		second := branch(t, db, root, "a")
		if got := livePaths(t, db); !slices.Equal(got, []string{"", "/a", "/a/x"}) || first.ID == second.ID {
			t.Errorf("the paths are %q: the second row should have taken the first one's place", got)
		}
		if err := db.Take(&gormplugintest.Branch{}, first.ID).Error; err == nil {
			t.Error("the first row is there still")
		}
		if found := finds(t, db, treeschema.Conflicts, treeschema.Siblings, treeschema.TopRows); len(found) > 0 && found[0].Severity != gormplugin.Unsafe {
			t.Error(found)
		}
	})
	t.Run("a session that rolls nothing back", func(t *testing.T) {
		db := openMigrated(t, gormlite.Open(fileName(t, "&_txlock=immediate&_pragma=journal_mode(off)")))
		finds(t, db, treeschema.Journal)
	})
}
