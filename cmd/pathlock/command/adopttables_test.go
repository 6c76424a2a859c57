package command_test

import (
	"cmp"
	"context"
	"fmt"
	neturl "net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// Keys without a sign, as GORM makes them of uint, have no -1 for the parent of an orphan, and no
// UUID of MariaDB is compared with a text that is none.
func TestAdopt_keysOfMySQL(t *testing.T) {
	t.Parallel()
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		var tr trial
		tr.open(t, "mysql://"+server.Scratch(t))
		tr.exec(t, "CREATE TABLE folders (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, name VARCHAR(50), parent VARCHAR(99))")
		tr.exec(t, "INSERT INTO folders VALUES (1, 'a', ''), (2, 'b', 'a/'), (3, 'c', 'a/b/'), (4, 'd', 'a/b/'), (5, 'e', 'lost/')")
		if strings.Contains(t.Name(), "MariaDB") {
			tr.exec(t, "CREATE TABLE uuids (id UUID PRIMARY KEY, parent_id UUID NOT NULL, name VARCHAR(50), path VARCHAR(99))")
			tr.exec(t, "INSERT INTO uuids SELECT CONCAT('00000000-0000-0000-0000-00000000000', id), CONCAT('00000000-0000-0000-0000-00000000000', GREATEST(id - 1, 1)), name, CONCAT(LEFT('/a/b/c', 2 * id - 2), '/', name) FROM folders WHERE id < 4")
		}
		for _, tree := range tr.adopt(t).Trees {
			for _, s := range tree.Statements {
				tr.exec(t, s.SQL)
			}
		}
	})
}

// Names that leave no room in those of indexes, columns and constraints are cut, and a key of two
// columns is no reason to fail.
func TestAdopt_longNames(t *testing.T) {
	eachEmpty(t, func(t *testing.T, tr trial) {
		table, long := strings.Repeat("t", 60), strings.Repeat("c", 59)
		tr.exec(t, fmt.Sprintf("CREATE TABLE %s (id INTEGER PRIMARY KEY, %sa INTEGER NOT NULL, %[2]sb INTEGER NOT NULL, parent_id INTEGER, name VARCHAR(50) NOT NULL, %[2]sp VARCHAR(99) NOT NULL)", table, long))
		tr.exec(t, "INSERT INTO "+table+" VALUES (1, 1, 2, NULL, 'a', '/a'), (2, 1, 2, 1, 'b', '/a/b'), (3, 1, 2, 2, 'c', '/a/b/c')")
		args := []string{"--table", table, "--tree-column", long + "a," + long + "b"}
		for _, s := range tr.adopt(t, args...).Trees[0].Statements {
			tr.exec(t, s.SQL)
		}
		if again := tr.adopt(t, args...).Trees[0]; len(again.Statements) > 0 {
			t.Errorf("there is still %v", again.Statements)
		}
		tr.exec(t, "CREATE TABLE pairs (id INTEGER NOT NULL, tenant_id INTEGER NOT NULL, parent_id INTEGER, name VARCHAR(50) NOT NULL, path VARCHAR(99) NOT NULL, PRIMARY KEY (id, tenant_id))")
		tr.exec(t, "INSERT INTO pairs VALUES (1, 1, NULL, 'a', '/a'), (2, 1, 1, 'b', '/a/b'), (3, 1, 2, 'c', '/a/b/c')")
		tr.adopt(t, "--table", "pairs")
	})
}

// Old code may keep its AutoMigrate if the statements only add columns and plain indexes, which
// GORM leaves alone. On SQLite it may make the table anew.
func TestAdopt_oldCodeWithAutoMigrate(t *testing.T) {
	eachEmpty(t, func(t *testing.T, tr trial) {
		collate := map[string]string{"postgres": ` COLLATE "C"`}[tr.databases]
		tr.exec(t, "CREATE TABLE plain (id INTEGER PRIMARY KEY, parent_id INTEGER, ids VARCHAR(99)"+collate+")")
		tr.exec(t, "INSERT INTO plain VALUES (1, NULL, '1,'), (2, 1, '1,2,'), (3, 2, '1,2,3,')")
		tr.exec(t, "CREATE TABLE added (id INTEGER PRIMARY KEY, parent_id INTEGER)")
		tr.exec(t, "INSERT INTO added VALUES (1, NULL), (2, 1), (3, 2)")
		tr.exec(t, "CREATE TABLE uniq (id INTEGER PRIMARY KEY, parent_id INTEGER, name VARCHAR(50), path VARCHAR(99))")
		tr.exec(t, "INSERT INTO uniq VALUES (1, NULL, 'a', '/a'), (2, 1, 'b', '/a/b'), (3, 2, 'c', '/a/b/c')")
		for table, want := range map[string]bool{"plain": tr.databases == "sqlite", "added": tr.databases == "sqlite", "uniq": true} {
			code, out, errs := run(t, "adopt", "--db", tr.url, "--table", table)
			if got := strings.Contains(out, "1. Release old code without AutoMigrate of "+table+"."); code != 0 || got != want {
				t.Errorf("%s: exit code %d: old code has to be released: %v, want %v: %s%s", table, code, got, want, out, errs)
			}
		}
	})
}

// A name in any script becomes one of Go's, a new column has no other's name in another letter
// case, and the way back knows the other databases' quotes in a name.
func TestAdopt_oddNames(t *testing.T) {
	t.Parallel()
	var tr trial
	tr.open(t, sqliteURL(t))
	tr.exec(t, "CREATE TABLE \"部`门\" (id INTEGER PRIMARY KEY, tree INTEGER NOT NULL, parent_id INTEGER, ID_PATH TIMESTAMP)")
	tr.exec(t, "INSERT INTO \"部`门\" VALUES (1, 1, NULL, NULL), (2, 1, 1, NULL), (3, 2, NULL, NULL), (4, 2, 3, NULL)")
	tree := tr.adopt(t).Trees[0]
	if want := "gormplugin.Model(&Column部门{})"; tree.Options[0] != want {
		t.Errorf("the option is %s, want %s", tree.Options[0], want)
	}
	for _, s := range tree.Statements {
		tr.exec(t, s.SQL)
	}
	for _, s := range slices.Backward(tree.Statements) {
		tr.exec(t, s.Undo)
	}
}

// A table that cannot be read, here because of its policy, hides no other.
func TestAdopt_unreadableTables(t *testing.T) {
	t.Parallel()
	url, reader := testserver.ScratchPostgres(t), fmt.Sprintf("adopt_reader_%d", os.Getpid())
	var tr trial
	tr.open(t, url)
	t.Cleanup(func() { _, _ = tr.db.ExecContext(context.Background(), "DROP OWNED BY "+reader+"; DROP ROLE "+reader) })
	for _, s := range []string{
		"CREATE TABLE bills (id INTEGER)", "INSERT INTO bills VALUES (1)", "ALTER TABLE bills ENABLE ROW LEVEL SECURITY", "CREATE POLICY p ON bills USING (current_setting('app.tenant') = '')",
		"CREATE TABLE folders (id INTEGER PRIMARY KEY, parent_id INTEGER, name VARCHAR(50), path VARCHAR(99))",
		"INSERT INTO folders VALUES (1, NULL, 'a', '/a'), (2, 1, 'b', '/a/b'), (3, 2, 'c', '/a/b/c')",
		"CREATE ROLE " + reader, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + reader,
	} {
		tr.exec(t, s)
	}
	as := must(neturl.Parse(url))
	query := as.Query()
	query.Set("role", reader)
	as.RawQuery = query.Encode()
	tr.url = as.String()
	if a := tr.adopt(t); len(a.Trees) != 1 || len(a.Unsupported) != 1 || !strings.Contains(a.Unsupported[0].Why, "app.tenant") {
		t.Errorf("got %v", a)
	}
	if code, _, errs := run(t, "adopt", "--db", tr.url, "--table", "bills"); code != 8 || !strings.Contains(errs, "app.tenant") {
		t.Errorf("of bills alone: exit code %d: %s", code, errs)
	}
}

// The statements for trees of two columns fill them beside deleted rows, even where MySQL refuses
// an UPDATE without a key, and once more; a constraint refuses another tree. Then none is left.
func TestAdopt_treesOfTwoColumns(t *testing.T) {
	eachEmpty(t, func(t *testing.T, tr trial) {
		tr.db.SetMaxOpenConns(1)
		tr.exec(t, "CREATE TABLE files (id BIGINT PRIMARY KEY, uid BIGINT NOT NULL, sid BIGINT, name VARCHAR(50), dir VARCHAR(99), deleted_at TIMESTAMP NULL)")
		tr.exec(t, "INSERT INTO files VALUES (1, 1, 7, 'a', '', NULL), (2, 1, 7, 'b', 'a/', '2001-01-01'), (3, 1, 7, 'c', 'a/b/', '2001-01-01'), (4, 1, 8, 'a', '', NULL), "+
			"(5, 1, 8, 'd', 'a/', NULL), (6, 2, 7, 'a', '', NULL), (7, 2, 7, 'e', 'a/', NULL), (8, 1, 7, 'b', 'a/', '2002-01-01'), (9, 1, 7, 'f', 'a/b/', '2002-01-01')")
		if tr.databases == "mysql" && !strings.Contains(t.Name(), "MariaDB") { // which refuses any join then
			tr.exec(t, "SET sql_safe_updates = 1")
		}
		statements := tr.adopt(t).Trees[0].Statements
		for _, s := range statements {
			tr.exec(t, s.SQL)
		}
		for _, s := range statements {
			if strings.HasPrefix(s.SQL, "UPDATE") {
				tr.exec(t, s.SQL)
			}
		}
		var wrong int
		testerr.Must(t, tr.db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM files WHERE COALESCE(parent_id, 0) <> CASE id WHEN 2 THEN 1 WHEN 3 THEN 8 WHEN 5 THEN 4 WHEN 7 THEN 6 WHEN 8 THEN 1 WHEN 9 THEN 8 ELSE 0 END").Scan(&wrong))
		if wrong > 0 {
			t.Errorf("%d parents are wrong", wrong)
		}
		for _, set := range []string{"uid_sid = '2:8'", "sid = NULL"} {
			if _, err := tr.db.ExecContext(t.Context(), "UPDATE files SET "+set+" WHERE id = 5"); (err == nil) != (tr.databases == "sqlite") {
				t.Errorf("a tree that is not the row's, by %s: %v", set, err)
			}
		}
		tr.exec(t, "UPDATE files SET uid_sid = '1:8', sid = 8 WHERE id = 5")
		if again := tr.adopt(t).Trees; len(again) != 1 || len(again[0].Statements) > 0 {
			t.Errorf("there is still %v", again)
		}
		for _, s := range slices.Backward(statements) {
			if s.Undo != "" {
				tr.exec(t, s.Undo)
			}
		}
		tr.exec(t, "UPDATE files SET sid = NULL WHERE id = 5")
		if code, _, errs := run(t, "adopt", "--db", tr.url, "--table", "files", "--tree-column", "uid,deleted_at"); code != 8 || !strings.Contains(errs, "only texts, UUIDs and whole numbers") {
			t.Errorf("a time says the tree: exit code %d: %s", code, errs)
		}
		if _, out, _ := run(t, "adopt", "--db", tr.url, "--table", "files", "--tree-column", "uid,sid"); !strings.Contains(out, "1 row has NULL in uid or sid") {
			t.Errorf("a row has half of a tree: %s", out)
		}
	})
}

// A shape is seen although two rows have no path, or a rename has missed three of ten.
func TestAdopt_brokenTables(t *testing.T) {
	t.Parallel()
	for _, set := range []string{
		`UPDATE %[1]q SET %[2]q = '' WHERE %[3]q IN (SELECT %[3]q FROM %[1]q ORDER BY 1 DESC LIMIT 2)`,
		`UPDATE %[1]q SET %[2]q = '9' || %[2]q WHERE %[3]q IN (SELECT %[3]q FROM %[1]q ORDER BY 1 LIMIT 3 OFFSET 3)`,
	} {
		eachTrial(t, "sqlite", sqliteURL, func(t *testing.T, tr trial) {
			for table, want := range tr.fsck {
				if path := cmp.Or(want[0]["path"], want[0]["id-path"]); path != "+" {
					tr.exec(t, fmt.Sprintf(set, table, path, want[0]["key"]))
				}
			}
			a := tr.adopt(t)
			tr.expect(t, a, true, "")
			for _, tree := range a.Trees {
				if 2*tree.Agree < tree.Rows || tree.Rows < 8 && len(tr.fsck[tree.Table]) > 0 {
					t.Errorf("%d of %d rows agree with %s", tree.Agree, tree.Rows, tree.Fsck)
				}
			}
		})
	}
}

// Two rows, one at the top and one below it, are enough to show the key and the parent. Without
// rows, the names of columns still show what is not supported.
func TestAdopt_smallTables(t *testing.T) {
	t.Parallel()
	eachTrial(t, "sqlite", sqliteURL, func(t *testing.T, tr trial) {
		for table, want := range tr.fsck {
			f := want[0]
			pair := fmt.Sprintf(`SELECT %q FROM %q ORDER BY 1 LIMIT 2`, f["key"], table)
			if f["parent"] != "+" {
				pair = fmt.Sprintf(`SELECT value FROM (SELECT p.%[2]q a, c.%[2]q b FROM %[1]q p JOIN %[1]q c ON c.%[3]q = p.%[2]q AND c.%[2]q <> p.%[2]q
					WHERE NOT EXISTS (SELECT 1 FROM %[1]q g WHERE g.%[2]q = p.%[3]q AND g.%[2]q <> p.%[2]q) ORDER BY 1, 2 LIMIT 1), json_each(json_array(a, b))`, table, f["key"], f["parent"])
			}
			tr.exec(t, fmt.Sprintf(`DELETE FROM %q WHERE %q NOT IN (%s)`, table, f["key"], pair))
			if leaf, parent, leaves := strings.Cut(f["leaves"], "?parent="); leaves {
				parent, _, _ = strings.Cut(parent, "&")
				tr.exec(t, fmt.Sprintf(`DELETE FROM %q WHERE %q NOT IN (SELECT %q FROM %q)`, leaf, parent, f["key"], table))
			}
		}
		tr.expect(t, tr.adopt(t), false, " tree-column deleted deleted-when name path path-form id-path id-path-form depth depth-top ")
		for _, created := range strings.Split(tr.sql, "CREATE TABLE ")[1:] {
			table, _, _ := strings.Cut(created, " (")
			tr.exec(t, "DELETE FROM "+table)
		}
		for _, tree := range tr.adopt(t).Trees {
			if tr.unsupported[tree.Table] != "" {
				t.Errorf("got %s", tree.Fsck)
			}
		}
	})
}
