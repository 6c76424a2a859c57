package gormplugin

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
)

// joined is what GORM makes of two errors of one statement.
func joined(first, second error) error {
	db := &gorm.DB{Config: &gorm.Config{}, Error: first}
	return db.AddError(second)
}

// timing is a driver's error that says whether it is for want of time.
type timing struct{ error }

func (timing) Timeout() bool   { return false }
func (timing) Temporary() bool { return false }

var _ net.Error = timing{}

func TestFailureOf(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	number := func(n uint16) error { return fmt.Errorf("insert: %w", &mysql.MySQLError{Number: n, Message: "said"}) }
	state := func(code string) error { return fmt.Errorf("insert: %w", dialect.QuotedState(code)) }
	quoted := func(code string) error { return errors.New("ERROR: said (SQLSTATE " + code + ")") }
	connecting := func(cause error) error {
		return fmt.Errorf("x: %w", fmt.Errorf("failed to connect to `user=x database=y`: dial error: timeout: %w", cause))
	}
	busy := errors.New("sqlite3: database is locked")
	for _, tt := range []struct {
		what, dialect string
		err           error
		want          pathlock.Failure
	}{
		{"none", "mysql", nil, ""},
		{"one of the plugin's own", "mysql", fmt.Errorf("x: %w", fault.ErrNameTaken), pathlock.FailureNameTaken},
		{"no row", "mysql", fmt.Errorf("x: %w", gorm.ErrRecordNotFound), pathlock.FailureNotFound},
		{"nobody there", "mysql", fmt.Errorf("x: %w", refused), pathlock.FailureDatabase},
		{"a connection that has broken", "postgres", driver.ErrBadConn, pathlock.FailureDatabase},
		{"a deadline, which a network error can be", "mysql", context.DeadlineExceeded, ""},
		{"too many connections", "mysql", number(1040), pathlock.FailureDatabase},
		{"no connection in time", "postgres", connecting(context.DeadlineExceeded), pathlock.FailureDatabase},
		{"a connection that nobody waits for any more", "postgres", connecting(context.Canceled), ""},
		{"a deadlock", "mysql", number(1213), pathlock.FailureLocked},
		{"a lock wait timeout", "mysql", number(1205), pathlock.FailureLocked},
		{"a duplicate key", "mysql", number(1062), ""},
		{"a text that is too long", "mysql", number(1406), pathlock.FailureInvalid},
		{"NUL in a text", "postgres", state("22021"), pathlock.FailureInvalid},
		{"an error that has the methods of the network's", "sqlite", timing{errors.New("constraint failed")}, ""},
		{"a syntax error", "mysql", number(1064), ""},
		{"shutting down", "postgres", state("57P01"), pathlock.FailureDatabase},
		{"too many connections", "postgres", state("53300"), pathlock.FailureDatabase},
		{"a serialisation failure", "postgres", state("40001"), pathlock.FailureLocked},
		{"a statement that was cancelled", "postgres", state("57014"), ""},
		{"a busy file", "sqlite", busy, pathlock.FailureLocked},
		{"a full disk", "sqlite", errors.New("sqlite3: database or disk is full"), pathlock.FailureDatabase},
		{"a pool that was closed", "sqlite", errors.New("sql: database is closed"), pathlock.FailureDatabase},
		{"a constraint", "sqlite", errors.New("sqlite3: constraint failed"), ""},
		{"the first of two", "mysql", joined(number(1053), errors.New("rolling back")), pathlock.FailureDatabase},
		{"the first of two, a lost connection", "mysql", joined(mysql.ErrInvalidConn, errors.New("rolling back")), pathlock.FailureDatabase},
		{"the first of two, a deadlock", "mysql", joined(number(1213), errors.New("rolling back")), pathlock.FailureLocked},
		{"the first of two", "postgres", joined(quoted("57P01"), errors.New("rolling back")), pathlock.FailureDatabase},
		{"the first of two, which nobody is to blame for", "postgres", joined(quoted("23505"), errors.New("rolling back")), ""},
		{"a name with the words of a deadlock", "mysql", errors.New(`"Error 1213 (40001): x" is no name`), ""},
		{"a name with the words of a lost connection", "mysql", errors.New(`"connection refused" is no name`), ""},
		{"the first of two, a name with the words of a lost connection", "mysql", joined(errors.New(`"connection refused" is no name`), errors.New("rolling back")), ""},
		{"the first of two, nobody there", "postgres", joined(errors.New("failed to connect to `user=x`: dial tcp [::1]:1: connect: connection refused"), errors.New("rolling back")), pathlock.FailureDatabase},
		{"a value with the words of a failure", "postgres", joined(errors.New(`ERROR: invalid input: "(SQLSTATE 57P01)" (SQLSTATE 22P02)`), errors.New("rolling back")), pathlock.FailureInvalid},
		{"a name with the words of a failure", "postgres", errors.New(`"(SQLSTATE 40001)" is no name`), ""},
		{"a name with the words of a busy file", "sqlite", errors.New(`"database is locked" is no name`), ""},
		{"a name with the words of a broken file", "sqlite", errors.New(`no name: "no such table: x"`), ""},
		{"the first of two, a busy file", "sqlite", joined(fmt.Errorf("insert: %w", busy), errors.New("rolling back")), pathlock.FailureLocked},
		{"the first of two, a pool that was closed", "sqlite", joined(errors.New("sql: database is closed"), errors.New("rolling back")), pathlock.FailureDatabase},
		{"anything else", "mysql", errors.New("anything else"), ""},
	} {
		t.Run(tt.dialect+": "+tt.what, func(t *testing.T) {
			d, err := dialect.Of(tt.dialect)
			if err != nil {
				t.Fatal(err)
			}
			p := &Plugin{owner: &txn.Owner{Dialect: d}}
			if got := p.FailureOf(tt.err); got != tt.want {
				t.Errorf("FailureOf(%v) = %q, want %q", tt.err, got, tt.want)
			}
		})
	}
}
