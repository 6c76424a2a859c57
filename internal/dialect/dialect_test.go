package dialect

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/pathlock-go/pathlock"
)

// answered is an error as PostgreSQL's drivers give it.
type answered string

func (e answered) Error() string    { return "SQLSTATE " + string(e) }
func (e answered) SQLState() string { return string(e) }

// Answered tells an error by which the server has decided against a COMMIT from one after which it
// may have committed: then the database is away. Refuses tells a row that the database does not
// take from a statement that it cannot run.
func TestAnswered_andRefuses(t *testing.T) {
	number := func(n uint16, state string) error {
		e := &mysql.MySQLError{Number: n}
		copy(e.SQLState[:], state)
		return e
	}
	for _, c := range []struct {
		name              string
		dialect           *Dialect
		err               error
		answered, refused bool
	}{
		{"a lost connection", MySQL, mysql.ErrInvalidConn, false, false},
		{"a server that shuts down", MySQL, number(1053, "08S01"), false, false},
		{"a connection that was killed, of MariaDB", MySQL, number(1927, "70100"), false, false},
		{"a connection that was killed, of MySQL", MySQL, number(3169, "HY000"), false, false},
		{"a statement that took too long, of MariaDB", MySQL, number(1969, "70100"), false, false},
		{"a server that a proxy has lost", MySQL, number(2013, "HY000"), false, false},
		{"a deadlock", MySQL, number(1213, "40001"), true, false},
		{"a foreign key", MySQL, number(1452, "23000"), true, true},
		{"an index record that is too long", MySQL, number(1713, "HY000"), true, true},
		{"a trigger's own error", MySQL, number(1644, "45000"), true, true},
		{"a missing table", MySQL, number(1146, "42S02"), true, false},
		{"a lost connection", PostgreSQL, io.ErrUnexpectedEOF, false, false},
		{"a session that was ended", PostgreSQL, answered("57P01"), false, false},
		{"a server that pgbouncer has lost", PostgreSQL, answered("08P01"), false, false},
		{"a server that another pooler has lost", PostgreSQL, answered("58000"), false, false},
		{"a server that Supavisor has lost", PostgreSQL, answered("XX000"), false, false},
		{"a constraint that was deferred", PostgreSQL, answered("23503"), true, true},
		{"a serialisation failure", PostgreSQL, answered("40001"), true, false},
		{"an index row that is too long", PostgreSQL, answered("54000"), true, true},
		{"a ROLLBACK, of pgx", PostgreSQL, errors.New("commit unexpectedly resulted in rollback"), true, false},
		{"a ROLLBACK, of lib/pq", PostgreSQL, errors.New("pq: Could not complete operation in a failed transaction"), true, false},
		{"a trigger's own error", SQLite, errors.New("sqlite3: constraint failed: no"), false, true},
		{"a lock that others hold", SQLite, errors.New("sqlite3: database is locked"), false, false},
	} {
		err := fmt.Errorf("commit: %w", c.err)
		answers := c.dialect.Answered // none in the process, which always does
		if answered, refused := answers != nil && answers(err), c.dialect.Refuses(err); answered != c.answered || refused != c.refused {
			t.Errorf("%s: %s (%v): answered %t, refused %t", c.dialect.Name, c.name, c.err, answered, refused)
		}
		if means := c.dialect.FailureOf(err); answers != nil && !c.answered && means != pathlock.FailureDatabase {
			t.Errorf("%s: %s (%v) means %q", c.dialect.Name, c.name, c.err, means)
		}
	}
}

// A question mark in a name or a text is no argument.
func TestBind_names(t *testing.T) {
	if got, want := PostgreSQL.Bind(`SELECT "a?""b?" FROM "x'?" WHERE 'it''s "?' <> ? AND c = ?`), `SELECT "a?""b?" FROM "x'?" WHERE 'it''s "?' <> $1 AND c = $2`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
