package dialect

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/go-sql-driver/mysql"

	"github.com/pathlock-go/pathlock"
)

// Failure is what an error of the database means for a transaction.
type Failure uint8

const (
	// FailureOther is none of the following.
	FailureOther Failure = iota
	// FailureRetry says that the statement lost to another transaction. The whole transaction
	// should be run again.
	FailureRetry
	// FailureEnded says the same, and that the transaction can only be rolled back. MySQL has
	// already rolled it back: a further statement on the connection would commit by itself.
	FailureEnded
	// FailureDuplicate says that a unique index refused a row.
	FailureDuplicate
	// FailureAborted says that an earlier statement of the transaction failed.
	FailureAborted
	// FailureReference says that a foreign key has refused a write.
	FailureReference
	// FailureUnfit says that a column cannot hold a value, or must not.
	FailureUnfit
	// FailureReadOnly says that the server, or the session, only reads: see [Discard].
	FailureReadOnly
	// FailureUnavailable says that the database cannot serve.
	FailureUnavailable
)

// IsRetryable reports whether the whole transaction should be run again.
func (f Failure) IsRetryable() bool { return f == FailureRetry || f == FailureEnded }

// IsOfAnother reports whether another row, transaction or statement may be to blame.
func (f Failure) IsOfAnother() bool {
	return f.IsRetryable() || f == FailureDuplicate || f == FailureAborted
}

// meanings are what failures mean to the sender of a request.
var meanings = map[Failure]pathlock.Failure{
	FailureRetry: pathlock.FailureLocked, FailureEnded: pathlock.FailureLocked, FailureDuplicate: pathlock.FailureDuplicate,
	FailureReference: pathlock.FailureReference, FailureUnfit: pathlock.FailureInvalid,
	FailureReadOnly: pathlock.FailureDatabase, FailureUnavailable: pathlock.FailureDatabase,
}

// FailureOf returns what an error of the driver means.
func (d *Dialect) FailureOf(err error) pathlock.Failure {
	kind := d.Classify(err)
	if !kind.IsRetryable() && unreachable(err) {
		kind = FailureUnavailable
	}
	return meanings[kind]
}

// Discard closes a connection, and keeps it from its pool. After a failover, a pool would go on
// using the sessions of a server that now only reads, though new ones could write.
func Discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // which is what it returns, too
}

// unreachable reports whether an error says that there is no connection to the database. It asks
// for the network's own types, since errors of a driver may have the methods of a [net.Error] for
// other reasons.
func unreachable(err error) bool {
	for _, lost := range []error{
		driver.ErrBadConn, sql.ErrConnDone, mysql.ErrInvalidConn, io.ErrUnexpectedEOF, net.ErrClosed,
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE,
	} {
		if errors.Is(err, lost) {
			return true
		}
	}
	closed := false
	walk(err, func(e error) {
		text := e.Error()
		closed = closed || text == errDBClosed || text == errPgxClosed || strings.HasPrefix(text, notConnected) && !errors.Is(e, context.Canceled)
	})
	_, operation := errors.AsType[*net.OpError](err)
	_, name := errors.AsType[*net.DNSError](err)
	return closed || operation || name
}

// errDBClosed is database/sql's error for a closed pool, which it does not export.
const errDBClosed = "sql: database is closed"

// errPgxClosed is pgx's error for a connection that was lost between two statements.
const errPgxClosed = "conn closed"

// notConnected begins pgx's error for a connection that it could not make. If connecting took
// longer than the pool's own limit, the error contains no error of the network, only the deadline
// of a context that is not the request's.
const notConnected = "failed to connect to `"

// A message of a database may hold what a user has written, and so may an error of a hook that
// never came from a database. So an error of the driver is known by its type. If the driver has no
// such type, a message counts only in the place where the driver writes it.

// walk calls visit with err and every error that it wraps.
func walk(err error, visit func(error)) {
	if err == nil {
		return
	}
	visit(err)
	walk(errors.Unwrap(err), visit)
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, inner := range several.Unwrap() {
			walk(inner, visit)
		}
	}
}
