package database_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

// counted is a database that counts statements, and the steps that the server takes for them.
type counted struct {
	dialect fsck.Dialect
	db      *sql.DB
	// work returns the statements and the steps so far.
	work func() (statements, steps int64)
	// name is the length of the longest name.
	name int
}

// countedSQLite counts the steps of SQLite's virtual machine.
func countedSQLite(t *testing.T) counted {
	var statements, steps int64
	db, err := driver.Open("file:"+filepath.ToSlash(filepath.Join(t.TempDir(), "test.db"))+"?_pragma=journal_mode(wal)&_pragma=synchronous(off)",
		func(conn *sqlite3.Conn) error {
			return conn.Trace(sqlite3.TRACE_PROFILE, func(_ sqlite3.TraceEvent, stmt, _ any) error {
				statements++
				steps += int64(stmt.(*sqlite3.Stmt).Status(sqlite3.STMTSTATUS_VM_STEP, true))
				return nil
			})
		})
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return counted{fsck.SQLite, db, func() (int64, int64) { return statements, steps }, 2048}
}

// countedMySQL counts the rows that the server reads for its one connection.
func countedMySQL(t *testing.T) counted {
	cfg, err := mysqldriver.ParseDSN(ownDatabase(t, "mysql://"+testserver.MySQL(t)+"mysql", "mysql://"))
	if err != nil {
		t.Fatal(err)
	}
	connector, err := mysqldriver.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return counted{fsck.MySQL, db, func() (statements, steps int64) {
		rows, err := db.QueryContext(t.Context(), `SHOW SESSION STATUS WHERE Variable_name LIKE 'Handler_read%' OR Variable_name = 'Questions'`)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var name string
			var n int64
			if err := rows.Scan(&name, &n); err != nil {
				t.Fatal(err)
			}
			if name == "Questions" {
				statements += n
				continue
			}
			steps += n
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return statements, steps
	}, 255}
}

// The work of a repair grows in proportion to the damage, counted in statements and in the
// database's steps.
func TestGrowth(t *testing.T) {
	testserver.NotUnderRace(t)
	shapes := []struct {
		what string
		// parent and name of the row i, from 2 on. Row 1 may be their parent.
		parent func(i int) any
		name   func(i, most int) string
	}{
		{
			"names alike up to where there is no room for a number, each twice", func(int) any { return 1 },
			func(i, most int) string { return strings.Repeat("n", most-5) + fmt.Sprintf("%05d", i/2) },
		},
		{"siblings of one name", func(int) any { return 1 }, func(int, int) string { return "same" }},
		{"rows at the top of one name", func(int) any { return nil }, func(int, int) string { return "same" }},
		{"rows at the top, two of each name", func(int) any { return nil }, func(i, _ int) string { return fmt.Sprintf("n%d", i/2) }},
		{"orphans of one name", func(i int) any { return 100_000 + i }, func(int, int) string { return "same" }},
	}
	databases := map[string]func(*testing.T) counted{"SQLite": countedSQLite, "MySQL": countedMySQL}
	for name, open := range databases {
		for _, shape := range shapes {
			for _, apply := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, apply %t", name, shape.what, apply), func(t *testing.T) {
					var statements, steps [2]int64
					for i, n := range []int{400, 800} {
						c := open(t)
						c.fill(t, n, shape.parent, shape.name)
						statements[i], steps[i] = c.repair(t, apply)
					}
					t.Logf("statements %v, steps %v", statements, steps)
					const linear = 2.4 // twice as much, and a logarithm
					if grown := float64(statements[1]) / float64(statements[0]); grown > linear {
						t.Errorf("twice the rows take %.1f times the statements: %v", grown, statements)
					}
					if grown := float64(steps[1]) / float64(steps[0]); grown > linear {
						t.Errorf("twice the rows take %.1f times the work: %v", grown, steps)
					}
				})
			}
		}
	}
}

// fill creates a table with n rows, whose collation tells all names apart.
func (c counted) fill(t *testing.T, n int, parent func(int) any, name func(int, int) string) {
	t.Helper()
	key, collation := "INTEGER PRIMARY KEY", ""
	if c.dialect == fsck.MySQL {
		key, collation = "BIGINT PRIMARY KEY AUTO_INCREMENT", "CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
	}
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := c.db.ExecContext(t.Context(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(fmt.Sprintf(`CREATE TABLE suites (id %s, plan_id BIGINT NOT NULL, parent_id BIGINT NULL, name VARCHAR(255) %s NOT NULL, path VARCHAR(400) %s NOT NULL, deleted_at TIMESTAMP NULL)`, key, collation, collation))
	exec(`CREATE INDEX suites_path ON suites (plan_id, path)`)
	exec(`CREATE INDEX suites_sibling ON suites (parent_id, name)`)
	exec(`INSERT INTO suites (id, plan_id, name, path) VALUES (1, 1, 'first', '/first')`)
	var args []any
	for i := 2; i <= n; i++ {
		args = append(args, i, parent(i), name(i, c.name))
	}
	exec(`INSERT INTO suites (id, plan_id, parent_id, name, path) VALUES (?, 1, ?, ?, '/')`+strings.Repeat(`, (?, 1, ?, ?, '/')`, n-2), args...)
}

// repair repairs the table and returns the work that it took.
func (c counted) repair(t *testing.T, apply bool) (statements, steps int64) {
	t.Helper()
	checker, err := fsck.New(t.Context(), c.db, c.dialect, fsck.DefaultTable("suites"))
	if err != nil {
		t.Fatal(err)
	}
	statementsBefore, stepsBefore := c.work()
	summary, err := checker.Repair(t.Context(), fsck.RepairOptions{Apply: apply})
	if err != nil {
		t.Fatal(err)
	}
	if duplicates := summary.Before.Problems[fsck.Duplicate] + summary.Before.Problems[fsck.Orphan]; duplicates < 100 || summary.After.Problems[fsck.Duplicate] > 0 {
		t.Errorf("before %v, after %v", summary.Before.Problems, summary.After.Problems)
	}
	statements, steps = c.work()
	return statements - statementsBefore, steps - stepsBefore
}
