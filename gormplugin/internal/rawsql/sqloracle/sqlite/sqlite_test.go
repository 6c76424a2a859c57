package sqlite

import (
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql/sqloracle"
)

// sqlite is the oracle for SQLite: a database with the tables that the statements are about.
type sqlite struct {
	conn *sqlite3.Conn
	// v is what the statement at hand was found to do.
	v       sqloracle.Verdict
	defines bool
}

func newSQLite(t testing.TB) sqloracle.Oracle {
	conn, err := sqlite3.Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	err = conn.Exec(`
		CREATE TABLE suites (id INTEGER PRIMARY KEY, name TEXT UNIQUE, path TEXT, parent_id INTEGER);
		CREATE INDEX i ON suites (path);
		CREATE TABLE others (id INTEGER PRIMARY KEY, name TEXT UNIQUE, suites INTEGER);
		CREATE TABLE x (id INTEGER PRIMARY KEY, name TEXT);
		CREATE VIEW v AS SELECT * FROM suites;`)
	if err != nil {
		t.Fatal(err)
	}
	o := &sqlite{conn: conn}
	err = conn.SetAuthorizer(func(action sqlite3.AuthorizerActionCode, what, _, _, trigger string) sqlite3.AuthorizerReturnCode {
		switch action {
		case sqlite3.AUTH_SELECT, sqlite3.AUTH_READ, sqlite3.AUTH_FUNCTION, sqlite3.AUTH_RECURSIVE:
		case sqlite3.AUTH_INSERT, sqlite3.AUTH_UPDATE, sqlite3.AUTH_DELETE:
			o.v.Writes = o.v.Writes || what == sqloracle.Guarded && trigger == ""
			o.v.Reads = false
		case sqlite3.AUTH_DROP_TABLE, sqlite3.AUTH_ALTER_TABLE:
			o.defines, o.v.Reads = true, false
		default:
			o.v.Reads = false
		}
		return sqlite3.AUTH_OK
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Names implements [sqloracle.Oracle].
func (*sqlite) Names() *rawsql.Names {
	return rawsql.NewNames(&rawsql.SQLite, sqloracle.Guarded)
}

// Ask implements [sqloracle.Oracle]. Statements are compiled, and never run.
func (o *sqlite) Ask(sql string) sqloracle.Verdict {
	all := sqloracle.Verdict{Reads: true}
	for rest := sql; strings.TrimSpace(rest) != ""; {
		o.v, o.defines = sqloracle.Verdict{Reads: true}, false
		stmt, tail, err := o.conn.Prepare(rest)
		if err != nil {
			// What stands before an error is run.
			return all
		}
		if stmt == nil {
			return all
		}
		explains := isExplain(rest)
		_ = stmt.Close() // it was never run
		all.Valid = true
		all.Writes = all.Writes || o.v.Writes && !o.defines && !explains
		all.Reads = all.Reads && (o.v.Reads || explains)
		rest = tail
	}
	return all
}

// isExplain reports whether a statement begins with EXPLAIN, past spaces and comments.
func isExplain(sql string) bool {
	const word = "EXPLAIN"
	for {
		sql = strings.TrimLeft(sql, " \t\r\n\v\f;\ufeff")
		switch {
		case strings.HasPrefix(sql, "--"):
			_, sql, _ = strings.Cut(sql, "\n")
		case strings.HasPrefix(sql, "/*"):
			_, sql, _ = strings.Cut(sql, "*/")
		default:
			return len(sql) >= len(word) && strings.EqualFold(sql[:len(word)], word)
		}
	}
}

func TestSQLite(t *testing.T) { sqloracle.Check(t, newSQLite(t), "sqlite") }

func TestSQLiteEdited(t *testing.T) { sqloracle.Search(t, newSQLite(t), "sqlite") }
