package doctor_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/doctor"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/internal/treeschema"
	"github.com/pathlock-go/pathlock/store/anystore"
	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
)

// open opens a database by its URL.
func open(t *testing.T, url string) *sql.DB {
	t.Helper()
	d, err := sqlopen.Parse(url)
	testerr.Must(t, err)
	db, err := d.Open()
	testerr.Must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func do(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		testerr.MustBe(t, s, testerr.Of(db.ExecContext(context.WithoutCancel(t.Context()), s)), nil)
	}
}

// used opens the lock store, as a program does, so that the tables of the locks are there.
func used(t *testing.T, url string) {
	t.Helper()
	store, err := anystore.Open(t.Context(), url, doctor.Stores...)
	testerr.Must(t, err)
	testerr.Must(t, store.Ping(t.Context()))
	testerr.Must(t, store.Close(t.Context()))
}

// eachDatabase runs a test on an SQLite file that is not there yet, and on a new database of each
// server.
func eachDatabase(t *testing.T, test func(t *testing.T, url string, dialect fsck.Dialect)) {
	t.Parallel()
	testserver.EachDatabase(t, func(t *testing.T, dialect string, newURL func(t *testing.T) string) {
		t.Parallel()
		test(t, newURL(t), fsck.Dialect(dialect))
	})
}

// eachFile is [eachDatabase] with a file that is there on SQLite, too.
func eachFile(t *testing.T, test func(t *testing.T, url string, dialect fsck.Dialect)) {
	eachDatabase(t, func(t *testing.T, url string, dialect fsck.Dialect) {
		if dialect == fsck.SQLite {
			used(t, url) // makes the file of the locks
			url += "-locks"
		}
		test(t, url, dialect)
	})
}

// The tables of the locks are looked at, and locks tried, on each database. Nothing is created.
func TestSQL_locksInDatabases(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string, dialect fsck.Dialect) {
		file := map[fsck.Dialect]string{fsck.SQLite: "no such file"}[dialect]
		want(t, locks(t, url), doctor.Warning, "tables", file)
		want(t, locks(t, url), doctor.Warning, "tables", file) // the first look has made none
		used(t, url)
		r := locks(t, url)
		want(t, r, doctor.Fine, "tables", "may write them")
		want(t, r, doctor.Fine, "trial", "handed over")
		want(t, r, doctor.Fine, "version", "supported")
		if dialect != fsck.SQLite {
			do(t, open(t, url), "ALTER TABLE pathlock_trees DROP COLUMN version")
			want(t, locks(t, url), doctor.Problem, "tables", "version")
		}
	})
}

func TestMySQL_timeOuts(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		idle := map[string]string{testserver.MariaDB: "idle_transaction_timeout is 0", testserver.Oracle: "wait_timeout is"}[server.Product]
		want(t, locks(t, "mysql://"+server.Scratch(t)), doctor.Advice, "time-outs", idle)
	})
}

// The settings of a session, or of a database, are found.
func TestPostgresSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		set             string
		level           doctor.Level
		check, contains string
	}{
		{"default_transaction_read_only = on", doctor.Problem, "read only", "nothing can be written"},
		{"default_transaction_isolation = 'repeatable read'", doctor.Problem, "isolation", "REPEATABLE READ"},
		{"synchronous_commit = off", doctor.Warning, "durability", "loses the last commits"},
		{"idle_in_transaction_session_timeout = 0", doctor.Advice, "time-outs", "for ever"},
		{"idle_in_transaction_session_timeout = 60000", doctor.Fine, "durability", "synchronous_commit is on"},
	} {
		t.Run(c.set, func(t *testing.T) {
			t.Parallel()
			url := testserver.ScratchPostgres(t)
			db := open(t, url)
			var name string
			testerr.Must(t, db.QueryRowContext(t.Context(), "SELECT current_database()").Scan(&name))
			do(t, db, "ALTER DATABASE "+name+" SET "+c.set)
			r := examine(t, doctor.Subject{DB: open(t, url), Dialect: fsck.PostgreSQL})
			want(t, r, c.level, c.check, c.contains)
			if c.check == "read only" {
				want(t, locks(t, url), c.level, c.check, c.contains)
			}
		})
	}
}

// suites is a table with trees that lacks everything.
const suites = `CREATE TABLE suites (id INTEGER PRIMARY KEY, plan_id INTEGER NOT NULL, parent_id INTEGER, name VARCHAR(100), path VARCHAR(500))`

var suitesTable = &fsck.Table{Table: "suites", Key: "id", Tree: "plan_id", Parent: "parent_id", Name: "name", Path: "path"}

// A table is examined as gormplugin.Verify does it, and writes are tried with the user's rights.
func TestTable(t *testing.T) {
	missing := *suitesTable
	missing.Parent = "up"
	eachFile(t, func(t *testing.T, url string, dialect fsck.Dialect) {
		table := func(db *sql.DB, table *fsck.Table) doctor.Report {
			t.Helper()
			return examine(t, doctor.Subject{DB: db, Dialect: dialect, Table: table})
		}
		db := open(t, url)
		want(t, table(db, suitesTable), doctor.Problem, "table", "suites")
		do(t, db, suites, "CREATE TABLE suites_path (id INTEGER)") // whose name an index of the other one cannot have
		r := table(db, suitesTable)
		if f := want(t, r, doctor.Warning, "path index", ""); len(f.Statements) == 0 {
			t.Error("there is no statement that makes the index")
		}
		want(t, r, doctor.Fine, "writes", "suites")
		// It draws no conclusions from the absence of columns.
		incomplete := table(db, &missing)
		want(t, incomplete, doctor.Problem, "table", `the parent column, "up": no such column`)
		if slices.ContainsFunc(incomplete.Findings, func(f doctor.Finding) bool { return f.About == "suites" && f.Check != "table" }) {
			t.Errorf("there are other findings, too: %v", incomplete.Findings)
		}
		for _, f := range r.Findings {
			do(t, db, f.Statements...)
		}
		// A path of ids needs no name.
		do(t, db, "CREATE TABLE depts (id INTEGER PRIMARY KEY, parent_id INTEGER, ancestors VARCHAR(500), org_id INTEGER NOT NULL DEFAULT 0)")
		for _, depts := range []fsck.Table{{SingleTree: "company"}, {Tree: "org_id"}} {
			depts.Table, depts.Key, depts.Parent, depts.IDPath = "depts", "id", "parent_id", "ancestors"
			want(t, table(db, &depts), doctor.Fine, "writes", "depts")
		}
		// PostgreSQL refuses plans that were prepared for other types.
		for _, f := range table(open(t, url), suitesTable).Findings {
			if f.About == "suites" && f.Level > doctor.Advice {
				t.Errorf("after the statements, %v: %s: %s", f.Level, f.Check, f.Is)
			}
		}
		if dialect != fsck.PostgreSQL {
			return
		}
		reader := fmt.Sprintf("doctor_reader_%d", os.Getpid())
		do(t, db, "CREATE ROLE "+reader+" LOGIN", "GRANT SELECT, UPDATE, DELETE ON suites TO "+reader)
		t.Cleanup(func() { do(t, db, "DROP OWNED BY "+reader, "DROP ROLE "+reader) })
		other := open(t, url)
		other.SetMaxOpenConns(1)
		do(t, other, "SET ROLE "+reader)
		want(t, table(other, suitesTable), doctor.Problem, "writes", "INSERT INTO")
	})
}

// An index of a table from before MySQL 5.7 holds less of a column. The printed statements can be
// run, and the report says what the table needs first.
func TestTable_ofAnOlderRowFormat(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		t.Parallel()
		db := open(t, "mysql://"+server.Scratch(t))
		do(t, db, `CREATE TABLE suites (id INTEGER PRIMARY KEY, plan_id INTEGER NOT NULL, parent_id INTEGER, name VARCHAR(255), path VARCHAR(700)) CHARACTER SET utf8mb4 ROW_FORMAT = COMPACT`)
		mend := func() doctor.Report {
			r := examine(t, doctor.Subject{DB: db, Dialect: fsck.MySQL, Table: suitesTable})
			for _, f := range r.Findings {
				do(t, db, f.Statements...)
			}
			return r
		}
		if f := want(t, mend(), doctor.Problem, "siblings", ""); !strings.Contains(f.Change, "ROW_FORMAT = DYNAMIC") {
			t.Errorf("says %s", f.Change)
		}
		do(t, db, "ALTER TABLE suites ROW_FORMAT = DYNAMIC")
		mend()
		want(t, mend(), doctor.Fine, "schema", "")
	})
}

// Rows that a number or a bit marks are live with 0: the statements for the index keep them apart,
// and one that holds NULL for live, too, is right.
func TestTable_marksAreZero(t *testing.T) {
	eachFile(t, func(t *testing.T, url string, dialect fsck.Dialect) {
		types := []string{"BIGINT", "NUMERIC(1)"}
		if dialect == fsck.MySQL {
			types = append(types, "BIT(1)")
		}
		db := open(t, url)
		for i, typ := range types {
			marked := *suitesTable
			marked.Table, marked.Deleted = fmt.Sprintf("marked%d", i), "deleted"
			do(t, db, fmt.Sprintf("CREATE TABLE %s (id INTEGER PRIMARY KEY, plan_id INTEGER NOT NULL, parent_id INTEGER, name VARCHAR(100), path VARCHAR(500), deleted %s)", marked.Table, typ))
			for _, f := range examine(t, doctor.Subject{DB: db, Dialect: dialect, Table: &marked}).Findings {
				if f.About == marked.Table {
					do(t, db, f.Statements...)
				}
			}
			do(t, db, "INSERT INTO "+marked.Table+" (id, plan_id, name, path, deleted) VALUES (1, 1, 'a', '/a', 0)")
			if _, err := db.ExecContext(t.Context(), "INSERT INTO "+marked.Table+" (id, plan_id, name, path, deleted) VALUES (2, 1, 'a', '/a', 0)"); err == nil {
				t.Errorf("%s: two live rows at the top have one name", typ)
			}
		}
	})
}

// Keys and parents whose collations the database refuses to compare are named, for the trees and
// for their leaves.
func TestTable_collationsThatClash(t *testing.T) {
	collations := map[fsck.Dialect][]string{fsck.PostgreSQL: {`"C"`, `"POSIX"`}, fsck.MySQL: {"utf8mb4_general_ci", "utf8mb4_unicode_ci"}}
	eachDatabase(t, func(t *testing.T, url string, of fsck.Dialect) {
		apart := collations[of]
		if apart == nil {
			t.Skip("compares all")
		}
		db := open(t, url)
		d, err := dialect.Of(of)
		testerr.Must(t, err)
		columns := "(id VARCHAR(30) COLLATE %s PRIMARY KEY, plan_id INTEGER NOT NULL, parent_id VARCHAR(30) COLLATE %s, name VARCHAR(100), path VARCHAR(500))"
		do(t, db, fmt.Sprintf("CREATE TABLE suites "+columns, apart[0], apart[1]), fmt.Sprintf("CREATE TABLE plans "+columns, apart[0], apart[0]),
			"INSERT INTO suites VALUES ('a', 1, NULL, 'a', '/a'), ('b', 1, 'a', 'b', '/a/b')")
		if err := db.QueryRowContext(t.Context(), "SELECT p.name FROM suites c JOIN suites p ON p.id = c.parent_id").Scan(new(string)); err == nil {
			t.Error("the database compares the two")
		}
		want(t, examine(t, doctor.Subject{DB: db, Dialect: of, Table: suitesTable}), doctor.Problem, "table", "refuses to compare")
		plans := *suitesTable
		plans.Table = "plans"
		plans.Leaves = []fsck.Table{{Table: "suites", Key: "id", Parent: "parent_id", Name: "name", Path: "path"}}
		if _, err := fsck.New(t.Context(), db, of, plans); !errors.Is(err, fsck.ErrTable) {
			t.Errorf("the leaves: %v", err)
		}
		found, err := treeschema.Tables(t.Context(), db, d, []treeschema.Model{{Table: *suitesTable}, {Table: plans.Leaves[0], Above: plans}})
		clashes := slices.DeleteFunc(found, func(f treeschema.Finding) bool { return f.Advice != "give both the same collation" })
		if len(clashes) != 2 {
			t.Errorf("found %v (%v)", found, err)
		}
	})
}

// The names of the indexes that two tables lack differ where they are of one kind.
func TestTables_newIndexesOfOneName(t *testing.T) {
	eachFile(t, func(t *testing.T, url string, of fsck.Dialect) {
		d, err := dialect.Of(of)
		testerr.Must(t, err)
		db, models := open(t, url), []treeschema.Model(nil)
		for _, table := range [][2]string{{"a", "b_path"}, {"a_b", "path"}} {
			do(t, db, fmt.Sprintf("CREATE TABLE %s (id INTEGER PRIMARY KEY, plan_id INTEGER NOT NULL, parent_id INTEGER, name VARCHAR(100), %s VARCHAR(500))", table[0], table[1]))
			described := *suitesTable
			described.Table, described.Path = table[0], table[1]
			models = append(models, treeschema.Model{Table: described})
		}
		found, err := treeschema.Tables(t.Context(), db, d, models)
		testerr.Must(t, err)
		for _, f := range found {
			do(t, db, f.Statements...)
		}
	})
}

// A lock store that is not the one of the programs on the database is a problem, on each database.
func TestSame_FindsAnotherStore(t *testing.T) {
	eachFile(t, func(t *testing.T, url string, dialect fsck.Dialect) {
		locks := "sqlite://" + filepath.Join(t.TempDir(), "locks.db")
		used(t, locks)
		db := open(t, url)
		same := func() doctor.Report {
			return examine(t, doctor.Subject{Locks: locks, DB: db, Dialect: dialect})
		}
		want(t, same(), doctor.Advice, "same store", "have not recorded")
		do(t, db, "CREATE TABLE pathlock_stores (guarded VARCHAR(191) PRIMARY KEY, namespace VARCHAR(255) NOT NULL, store VARCHAR(64) NOT NULL)",
			"INSERT INTO pathlock_stores VALUES ('suites', 'testplan', 'ABCDEFGH of 2026-01-01')")
		want(t, same(), doctor.Problem, "same store", "take the locks of suites in ABCDEFGH of 2026-01-01")
		store, err := anystore.Open(t.Context(), locks, doctor.Stores...)
		testerr.Must(t, err)
		id, err := pathlock.New(store).StoreID(t.Context())
		testerr.Must(t, err)
		testerr.Must(t, store.Close(t.Context()))
		do(t, db, "UPDATE pathlock_stores SET store = '"+id+"'")
		want(t, same(), doctor.Fine, "same store", "take the locks of suites here, in the namespace testplan")
	})
}
