package dialect

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// answered is an error as PostgreSQL's drivers give it.
type answered string

func (e answered) Error() string    { return "SQLSTATE " + string(e) }
func (e answered) SQLState() string { return string(e) }

// Of an error at a COMMIT, it has to be known whether the server has decided against the
// transaction, or may as well have committed it.
func TestAnswered(t *testing.T) {
	for _, c := range []struct {
		name    string
		dialect string
		err     error
		want    bool
	}{
		{"a lost connection", "mysql", mysql.ErrInvalidConn, false},
		{"a server that shuts down", "mysql", &mysql.MySQLError{Number: 1053}, false},
		{"a connection that was killed, of MariaDB", "mysql", &mysql.MySQLError{Number: 1927}, false},
		{"a connection that was killed, of MySQL", "mysql", &mysql.MySQLError{Number: 3169}, false},
		{"a deadlock", "mysql", &mysql.MySQLError{Number: 1213}, true},
		{"a lost connection", "postgres", errors.New("unexpected EOF"), false},
		{"a session that was ended", "postgres", answered("57P01"), false},
		{"a constraint that was deferred", "postgres", answered("23503"), true},
		{"a serialisation failure", "postgres", answered("40001"), true},
		{"a ROLLBACK, of pgx", "postgres", errors.New("commit unexpectedly resulted in rollback"), true},
		{"a ROLLBACK, of lib/pq", "postgres", errors.New("pq: Could not complete operation in a failed transaction"), true},
	} {
		d, err := Of(Name(c.dialect))
		testerr.Must(t, err)
		if got := d.Answered(fmt.Errorf("commit: %w", c.err)); got != c.want {
			t.Errorf("%s: %s (%v): answered is %v", c.dialect, c.name, c.err, got)
		}
	}
}

// A row that the database does not take is told from a statement that it cannot run.
func TestRefuses(t *testing.T) {
	number := func(n uint16, state string) error {
		e := &mysql.MySQLError{Number: n}
		copy(e.SQLState[:], state)
		return e
	}
	for _, c := range []struct {
		name    string
		dialect *Dialect
		err     error
		want    bool
	}{
		{"a foreign key", MySQL, number(1452, "23000"), true},
		{"an index record that is too long", MySQL, number(1713, "HY000"), true},
		{"a trigger's own error", MySQL, number(1644, "45000"), true},
		{"a missing table", MySQL, number(1146, "42S02"), false},
		{"an index row that is too long", PostgreSQL, answered("54000"), true},
		{"a lost connection", PostgreSQL, errors.New("unexpected EOF"), false},
		{"a trigger's own error", SQLite, errors.New("sqlite3: constraint failed: no"), true},
		{"a lock that others hold", SQLite, errors.New("sqlite3: database is locked"), false},
	} {
		if got := c.dialect.Refuses(fmt.Errorf("update: %w", c.err)); got != c.want {
			t.Errorf("%s: %s (%v): refused is %v", c.dialect.Name, c.name, c.err, got)
		}
	}
}
