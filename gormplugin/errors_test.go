package gormplugin

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// state is an error of PostgreSQL.
type state string

func (s state) Error() string    { return string(s) }
func (s state) SQLState() string { return string(s) }

func TestFailureOf(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	number := func(n uint16) error { return fmt.Errorf("insert: %w", &mysql.MySQLError{Number: n, Message: "said"}) }
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
		{"no connection in time", "postgres", connecting(context.DeadlineExceeded), pathlock.FailureDatabase},
		{"a deadlock", "mysql", number(1213), pathlock.FailureLocked},
		{"a lock wait timeout", "mysql", number(1205), pathlock.FailureLocked},
		{"a table that was altered meanwhile", "mysql", number(1412), pathlock.FailureLocked},
		{"a statement that was altered meanwhile", "mysql", number(1615), pathlock.FailureLocked},
		{"a server that lets nobody in", "mysql", number(3032), pathlock.FailureDatabase},
		{"a client that the server blocks", "mysql", number(1129), pathlock.FailureDatabase},
		{"an account that is locked", "mysql", number(3118), pathlock.FailureDatabase},
		{"GORM's word for a CHECK", "sqlite", fmt.Errorf("x: %w", gorm.ErrCheckConstraintViolated), pathlock.FailureInvalid},
		{"an exclusion constraint", "postgres", state("23P01"), pathlock.FailureDuplicate},
		{"a JSON that is none", "mysql", number(3140), pathlock.FailureInvalid},
		{"a STRICT table", "sqlite", errors.New("sqlite3: constraint failed: cannot store TEXT value in INTEGER column suites.note"), pathlock.FailureInvalid},
		{"a trigger's own words", "sqlite", errors.New("sqlite3: constraint failed: no: NOT NULL constraint failed"), ""},
		{"a number that is too large for lib/pq", "postgres", fmt.Errorf("sql: converting argument $1 type: %w", errors.New("uint64 values with high bit set are not supported")), pathlock.FailureInvalid},
		{"NUL in a text", "postgres", state("22021"), pathlock.FailureInvalid},
		{"a syntax error", "mysql", number(1064), ""},
		{"too many connections", "postgres", state("53300"), pathlock.FailureDatabase},
		{"a serialisation failure", "postgres", state("40001"), pathlock.FailureLocked},
		{"a statement that was cancelled", "postgres", state("57014"), pathlock.FailureDatabase},
		{"a transaction that was idle too long", "postgres", state("25P03"), pathlock.FailureDatabase},
		{"a transaction that took too long", "postgres", state("25P04"), pathlock.FailureDatabase},
		{"a statement that took too long for MariaDB", "mysql", number(1969), pathlock.FailureDatabase},
		{"a statement that took too long for MySQL", "mysql", number(3024), pathlock.FailureDatabase},
		{"a session that was idle too long", "mysql", number(4031), pathlock.FailureDatabase},
		{"a busy file", "sqlite", busy, pathlock.FailureLocked},
		{"a full disk", "sqlite", errors.New("sqlite3: database or disk is full"), pathlock.FailureDatabase},
		{"a connection of pgx that was lost", "postgres", fmt.Errorf("x: %w", errors.New("conn closed")), pathlock.FailureDatabase},
		{"a pool that was closed", "sqlite", errors.New("sql: database is closed"), pathlock.FailureDatabase},
		{"a name with the words of a deadlock", "mysql", errors.New(`"Error 1213 (40001): x" is no name`), ""},
		{"a name with the words of a failure", "postgres", errors.New(`"(SQLSTATE 40001)" is no name`), ""},
	} {
		t.Run(tt.dialect+": "+tt.what, func(t *testing.T) {
			d, err := dialect.Of(dialect.Name(tt.dialect))
			testerr.Must(t, err)
			p := New(nil)
			p.served.Store(d, nil) // by a DB that may have been closed
			if got := p.FailureOf(tt.err); got != tt.want {
				t.Errorf("FailureOf(%v) = %q, want %q", tt.err, got, tt.want)
			}
		})
	}
}
