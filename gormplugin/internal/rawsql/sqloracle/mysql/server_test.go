package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql/sqloracle"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

// server is a scratch database on a MariaDB or a MySQL.
type server struct {
	*sql.DB
	t *testing.T
	// made is how the tables were defined when they were made.
	made string
}

// newServer makes a scratch database, and drops it afterwards.
func newServer(t *testing.T, on testserver.MySQLServer) *server {
	t.Helper()
	config, err := mysqldriver.ParseDSN(on.DSN)
	if err != nil {
		t.Fatal(err)
	}
	config.MultiStatements = true
	admin := open(t, config)
	name := fmt.Sprintf("pathlock_sqloracle_%d", rand.Uint64())
	if _, err := admin.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.ExecContext(context.Background(), "DROP DATABASE "+name); err != nil {
			t.Error(err)
		}
		_ = admin.Close()
	})
	config.DBName = name
	// Loops end, and nobody waits for a lock for long.
	config.Params = map[string]string{"lock_wait_timeout": "5", "innodb_lock_wait_timeout": "5"}
	if on.Product == testserver.MariaDB {
		config.Params["max_statement_time"] = "3"
	}
	s := &server{DB: open(t, config), t: t}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// open connects as config says.
func open(t *testing.T, config *mysqldriver.Config) *sql.DB {
	t.Helper()
	connector, err := mysqldriver.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	return sql.OpenDB(connector)
}

// tables are the tables of the scratch database, and rows what is in them.
var (
	tables = []string{
		"CREATE TABLE suites (id INT PRIMARY KEY, name VARCHAR(20), path VARCHAR(50), INDEX i (name)) PARTITION BY RANGE (id) (PARTITION p VALUES LESS THAN (3), PARTITION q VALUES LESS THAN (1000))",
		"CREATE TABLE others (id INT PRIMARY KEY, name VARCHAR(20), path VARCHAR(50), INDEX i (name))",
		"CREATE TABLE x (id INT PRIMARY KEY, name VARCHAR(20), path VARCHAR(50), INDEX i (name))",
	}
	rows = "INSERT INTO suites VALUES (1, 'a', '/a'), (2, 'b', '/a/b'), (5, 'c', '/c'); INSERT INTO others VALUES (2, 'z', '/z'); INSERT INTO x VALUES (1, 'y', '/y'), (2, 'y', '/y')"
)

// fill puts the rows into the tables as they were, and makes these anew where they are not what
// they were.
func (s *server) fill() {
	s.t.Helper()
	if now := s.definitions(); now == "" || now != s.made {
		s.must("DROP TABLE IF EXISTS suites, others, x, y, scratch")
		s.must(strings.Join(tables, ";"))
		s.made = s.definitions()
	}
	s.must("DELETE FROM suites; DELETE FROM others; DELETE FROM x; DROP TABLE IF EXISTS y;" + rows)
}

// must runs statements.
func (s *server) must(statements string) {
	s.t.Helper()
	if _, err := s.ExecContext(s.t.Context(), statements); err != nil {
		s.t.Fatalf("%s: %v", statements, err)
	}
}

// definitions returns how the tables are defined; "" if one is missing.
func (s *server) definitions() string {
	s.t.Helper()
	var all strings.Builder
	for _, table := range []string{"suites", "others", "x"} {
		var name, definition string
		if err := s.QueryRowContext(s.t.Context(), "SHOW CREATE TABLE "+table).Scan(&name, &definition); err != nil {
			return ""
		}
		all.WriteString(definition)
	}
	return all.String()
}

// rows returns the rows of the table as one text; "" if a table is missing.
func (s *server) rows(table string) string {
	s.t.Helper()
	var all, rest sql.NullString
	query := "SELECT GROUP_CONCAT(CONCAT_WS(',', id, name, path) ORDER BY id SEPARATOR ';'), (SELECT MAX(id) FROM others) + (SELECT MAX(id) FROM x) FROM " + table
	if err := s.QueryRowContext(s.t.Context(), query).Scan(&all, &rest); err != nil {
		return ""
	}
	return all.String
}

// alone runs statements on a connection of their own, which is then closed, and returns the last
// one's error.
func (s *server) alone(statements ...string) (err error) {
	s.t.Helper()
	conn, err := s.Conn(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, statement := range statements {
		_, err = conn.ExecContext(s.t.Context(), statement)
	}
	// It does not go back into the pool.
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = conn.Close()
	return err
}

// Whatever changes the rows of the table on a server has to be refused, also where no parser at
// hand knows the statement.
func TestServers(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, on testserver.MySQLServer) {
		s := newServer(t, on)
		names := rawsql.NewNames(&rawsql.MySQL, sqloracle.Guarded)
		s.fill()
		before := s.rows(sqloracle.Guarded)
		ran, wrote := 0, 0
		for _, statement := range append(sqloracle.Corpus(t, "mysql"), sqloracle.CorpusOf(t, "mariadb")...) {
			if strings.Contains(statement, "OUTFILE") {
				continue // which would stay in the server's folder
			}
			if _ = s.alone(statement, "COMMIT", "DROP TRIGGER IF EXISTS t", "DROP EVENT IF EXISTS e"); s.rows(sqloracle.Guarded) == before {
				ran++
				continue
			}
			wrote++
			if changed := s.rows(sqloracle.Guarded); changed != before && !sqloracle.Refused(names, statement) && !definitions[statement] {
				t.Errorf("%q makes %q of the table, and passes", statement, changed)
			}
			s.fill()
		}
		t.Logf("%d statements change no row, %d do", ran, wrote)
		if wrote < 20 {
			t.Errorf("only %d statements were found to write", wrote)
		}
	})
}

// definitions take the table away as a whole, as migrations do.
var definitions = map[string]bool{
	"DROP TABLE suites":           true,
	"RENAME TABLE suites TO x":    true,
	"RENAME TABLE suites TO y":    true,
	"ALTER TABLE suites RENAME y": true,
}

// What commits on a server, or rolls back, has to be known to do so.
func TestImplicitCommits(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, on testserver.MySQLServer) {
		s := newServer(t, on)
		commits := 0
		s.fill()
		for _, statement := range sqloracle.CorpusOf(t, "mysql_ends") {
			statement, conservative := strings.CutPrefix(statement, "~ ")
			before := s.rows("others")
			// What was written before the statement is taken back unless that has committed; what
			// is written after it, only if the transaction goes on.
			_ = s.alone("BEGIN", "INSERT INTO others VALUES (7, 'before', '')", statement, "INSERT INTO others VALUES (8, 'after', '')", "UNLOCK TABLES", "ROLLBACK")
			ended := s.rows("others") != before
			if ended {
				commits++
				s.fill()
			}
			_, found := rawsql.MySQL.EndsTransaction(statement)
			if ended && !found {
				t.Errorf("%q ends the transaction, and is not known to", statement)
			}
			if !ended && found && !conservative {
				t.Errorf("%q does not end the transaction, and is taken for one that does", statement)
			}
		}
		if commits < 20 {
			t.Errorf("only %d statements were found to commit", commits)
		}
	})
}
