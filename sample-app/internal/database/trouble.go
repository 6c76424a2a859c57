package database

import (
	"errors"
	"slices"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
)

// refusal is what a server means that answers and yet does not serve, by its error numbers or codes.
type refusal struct {
	mysql    []uint16
	postgres []string
	means    string
}

var refusals = []refusal{
	{[]uint16{errAccessDenied, 1044, 1698}, []string{"28", "42501"}, "refuses the user or the password"},
	{[]uint16{errUnknownDatabase}, []string{"3D"}, "has no database of that name"},
	{[]uint16{errTooManyConnections, errTooManyUserConns}, []string{"53300"}, "has too many connections"},
	{[]uint16{errServerShutdown}, []string{"57P"}, "is shutting down or starting"},
	{[]uint16{errDiskFull}, []string{"53100"}, "is out of disk space"},
}

// Trouble says in a few words why a database does not serve, for people who may not be shown addresses: "the database …".
func Trouble(err error) string {
	mysql, isMySQL := errors.AsType[*mysqldriver.MySQLError](err)
	_, isPostgres := errors.AsType[*pgconn.PgError](err)
	for _, r := range refusals {
		if isMySQL && slices.Contains(r.mysql, mysql.Number) || postgresCode(err, r.postgres) {
			return r.means
		}
	}
	switch {
	case isMySQL || isPostgres:
		return "refuses what it is asked for; the log has more"
	case sqliteUnavailable(err):
		return "file cannot be used"
	default:
		return "does not answer"
	}
}
