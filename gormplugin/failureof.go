package gormplugin

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/go-sql-driver/mysql"
	"github.com/pathlock-go/pathlock"
	"gorm.io/gorm"
)

// FailureOf returns what an error means to whoever sent a request: what [pathlock.FailureOf] does,
// and beside it what GORM and the drivers say of themselves:
//
//   - [gorm.ErrRecordNotFound] is [pathlock.FailureNotFound];
//   - a deadlock, a lock wait that took too long and their kind are [pathlock.FailureLocked];
//   - a database that cannot be reached, or that cannot serve, is [pathlock.FailureDatabase];
//   - a value that the database cannot hold is [pathlock.FailureInvalid].
//
// GORM puts a second error behind a first one in such a way that [errors.Is] does not find the first
// any more. What the database said is found there, too, by its number.
func (p *Plugin) FailureOf(err error) pathlock.Failure {
	if failure := pathlock.FailureOf(err); failure != "" || err == nil {
		return failure
	}
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return pathlock.FailureNotFound
	}
	if p.dialect == nil {
		return ""
	}
	if failure := p.dialect.failureOf(err); failure != "" {
		return failure
	}
	if said := p.dialect.said(err.Error()); said != nil {
		return p.dialect.failureOf(said)
	}
	return ""
}

// failureOf returns what an error of the driver means.
func (d *dialect) failureOf(err error) pathlock.Failure {
	switch {
	case d.classify(err).isRetryable():
		return pathlock.FailureLocked
	case unreachable(err), d.unavailable(err):
		return pathlock.FailureDatabase
	case d.unfit(err):
		return pathlock.FailureInvalid
	default:
		return ""
	}
}

// FailureOf implements [pathlock.FailureExplainer].
func (r resolver) FailureOf(err error) pathlock.Failure { return r.plugin.FailureOf(err) }

var _ pathlock.FailureExplainer = resolver{}

// unreachable reports whether an error says that there is no connection to the database, or none any
// more. It asks for the network's own types: errors of a driver may have the methods of a
// [net.Error] for reasons of their own.
func unreachable(err error) bool {
	for _, lost := range []error{
		driver.ErrBadConn, sql.ErrConnDone, mysql.ErrInvalidConn, io.ErrUnexpectedEOF, net.ErrClosed,
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE,
	} {
		if errors.Is(err, lost) {
			return true
		}
	}
	_, operation := errors.AsType[*net.OpError](err)
	_, name := errors.AsType[*net.DNSError](err)
	return operation || name
}

// unavailableMySQL reports whether the server says that it cannot serve.
// See https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html.
func unavailableMySQL(err error) bool {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok {
		return false
	}
	switch e.Number {
	case 1021, // ER_DISK_FULL
		1040, // ER_CON_COUNT_ERROR
		1041, // ER_OUT_OF_RESOURCES
		1044, // ER_DBACCESS_DENIED_ERROR
		1045, // ER_ACCESS_DENIED_ERROR
		1049, // ER_BAD_DB_ERROR
		1053, // ER_SERVER_SHUTDOWN
		1114, // ER_RECORD_FILE_FULL
		1142, // ER_TABLEACCESS_DENIED_ERROR
		1146, // ER_NO_SUCH_TABLE
		1194, // ER_CRASHED_ON_USAGE
		1203, // ER_TOO_MANY_USER_CONNECTIONS
		1226, // ER_USER_LIMIT_REACHED
		1290, // ER_OPTION_PREVENTS_STATEMENT: read-only
		1317, // ER_QUERY_INTERRUPTED
		1836, // ER_READ_ONLY_MODE
		1927, // ER_CONNECTION_KILLED of MariaDB
		3169: // ER_SESSION_WAS_KILLED of MySQL
		return true
	}
	return false
}

// unfitMySQL reports whether the server says that a column cannot hold a value.
func unfitMySQL(err error) bool {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok {
		return false
	}
	switch e.Number {
	case 1264, // ER_WARN_DATA_OUT_OF_RANGE
		1265, // WARN_DATA_TRUNCATED
		1267, // ER_CANT_AGGREGATE_2COLLATIONS: a text that the column's character set lacks
		1292, // ER_TRUNCATED_WRONG_VALUE
		1366, // ER_TRUNCATED_WRONG_VALUE_FOR_FIELD: characters that its character set lacks, too
		1406, // ER_DATA_TOO_LONG
		3988: // ER_CANNOT_CONVERT_STRING
		return true
	}
	return false
}

// unfitPostgres reports whether the server says that a column cannot hold a value: class 22, to which
// NUL in a text belongs.
func unfitPostgres(err error) bool {
	e, ok := errors.AsType[sqlState](err)
	return ok && strings.HasPrefix(e.SQLState(), "22")
}

// unfitSQLite reads SQLite's messages.
func unfitSQLite(err error) bool { return strings.Contains(err.Error(), "string or blob too big") }

// unavailablePostgres reports whether the server says that it cannot serve.
// See https://www.postgresql.org/docs/current/errcodes-appendix.html.
func unavailablePostgres(err error) bool {
	e, ok := errors.AsType[sqlState](err)
	return ok && slices.ContainsFunc([]string{
		"08",    // connection exception
		"25006", // read_only_sql_transaction: a standby
		"28",    // invalid authorization
		"3D",    // no such database
		"42501", // insufficient_privilege
		"42P01", // undefined_table
		"53",    // insufficient resources: too many connections, disk full
		"57P",   // the server is shutting down or starting, or has ended the session
		"58",    // system error
		"XX",    // internal error, corrupted data
	}, func(class string) bool { return strings.HasPrefix(e.SQLState(), class) })
}

// unavailableSQLite reads SQLite's messages, which every driver passes on. See
// https://www.sqlite.org/rescode.html.
func unavailableSQLite(err error) bool {
	text := err.Error()
	return slices.ContainsFunc([]string{
		"disk I/O error", "unable to open database file", "database or disk is full", "database disk image is malformed",
		"file is not a database", "attempt to write a readonly database", "no such table",
	}, func(said string) bool { return strings.Contains(text, said) })
}

// mysqlNumber is how the driver writes an error of the server.
var mysqlNumber = regexp.MustCompile(`Error (\d+)(?: \([0-9A-Z]{5}\))?: `)

// saidMySQL returns the server's error that a text quotes, or that of a lost connection.
func saidMySQL(text string) error {
	if found := mysqlNumber.FindStringSubmatch(text); found != nil {
		if number, err := strconv.ParseUint(found[1], 10, 16); err == nil {
			return &mysql.MySQLError{Number: uint16(number)}
		}
	}
	return saidLost(text)
}

// quotedState is an error of PostgreSQL that a text quotes.
type quotedState string

// Error implements error.
func (s quotedState) Error() string { return string(s) }

// SQLState is what the drivers' errors have.
func (s quotedState) SQLState() string { return string(s) }

// postgresState is how pgx writes an error of the server.
var postgresState = regexp.MustCompile(`\(SQLSTATE ([0-9A-Z]{5})\)`)

// saidPostgres returns the server's error that a text quotes, or that of a lost connection.
func saidPostgres(text string) error {
	if found := postgresState.FindStringSubmatch(text); found != nil {
		return quotedState(found[1])
	}
	return saidLost(text)
}

// saidLost returns [driver.ErrBadConn] where a text says that the connection was lost.
func saidLost(text string) error {
	for _, lost := range []string{
		driver.ErrBadConn.Error(), mysql.ErrInvalidConn.Error(), io.ErrUnexpectedEOF.Error(),
		"sql: database is closed", "failed to connect", "connection refused", "connection reset by peer", "broken pipe",
	} {
		if strings.Contains(text, lost) {
			return driver.ErrBadConn
		}
	}
	return nil
}
