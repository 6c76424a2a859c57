package sqloracle

import (
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
)

// sqlite is the oracle for SQLite: a database with the tables that the statements are about.
type sqlite struct {
	conn *sqlite3.Conn
	// v is what the statement at hand was found to do.
	v       verdict
	defines bool
}

func newSQLite(t *testing.T) oracle {
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
			o.v.writes = o.v.writes || what == guarded && trigger == ""
			o.v.reads = false
		case sqlite3.AUTH_DROP_TABLE, sqlite3.AUTH_ALTER_TABLE:
			o.defines, o.v.reads = true, false
		default:
			o.v.reads = false
		}
		return sqlite3.AUTH_OK
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// names implements oracle.
func (*sqlite) names() *rawsql.Names {
	return rawsql.NewNames(&rawsql.SQLite, rawsql.CaseASCII, guarded)
}

// ask implements oracle. Statements are compiled, and never run.
func (o *sqlite) ask(sql string) verdict {
	all := verdict{reads: true}
	for rest := sql; strings.TrimSpace(rest) != ""; {
		o.v, o.defines = verdict{reads: true}, false
		stmt, tail, err := o.conn.Prepare(rest)
		if err != nil {
			// What stands before an error is run.
			return all
		}
		if stmt == nil {
			return all
		}
		explains := strings.EqualFold(firstWord(stmt.SQL()[:len(rest)-len(tail)]), "EXPLAIN")
		_ = stmt.Close() // it was never run
		all.valid = true
		all.writes = all.writes || o.v.writes && !o.defines && !explains
		all.reads = all.reads && (o.v.reads || explains)
		rest = tail
	}
	return all
}

// firstWord returns the first word of a statement, past spaces and comments.
func firstWord(sql string) string {
	for {
		sql = strings.TrimLeft(sql, " \t\r\n\f;\ufeff")
		switch {
		case strings.HasPrefix(sql, "--"):
			_, sql, _ = strings.Cut(sql, "\n")
		case strings.HasPrefix(sql, "/*"):
			_, sql, _ = strings.Cut(sql, "*/")
		default:
			return strings.TrimRight(strings.SplitN(sql+" ", " ", 2)[0], "\t\n")[:min(len("EXPLAIN"), len(strings.SplitN(sql+" ", " ", 2)[0]))]
		}
	}
}

func TestSQLite(t *testing.T) { checkCorpus(t, newSQLite(t), "sqlite") }

func FuzzSQLite(f *testing.F) { fuzz(f, newSQLite, "sqlite") }
