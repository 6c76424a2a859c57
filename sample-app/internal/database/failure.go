package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net"
)

// IsUnavailable reports whether an error says that the database cannot be
// reached or cannot serve, whatever the statement was.
func IsUnavailable(err error) bool {
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) {
		return true
	}
	// A context's deadline is a net.Error too, and says nothing about the database.
	if _, ok := errors.AsType[net.Error](err); ok && !errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	return mysqlUnavailable(err) || postgresUnavailable(err) || sqliteUnavailable(err)
}

// IsContention reports whether an error says that transactions collided, so
// that the same one may well succeed if it is done again.
func IsContention(err error) bool {
	return mysqlContended(err) || postgresContended(err) || sqliteContended(err)
}
