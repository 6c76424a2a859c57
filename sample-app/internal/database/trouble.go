package database

import (
	"errors"
	"slices"
	"strings"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/ncruces/go-sqlite3"
)

// refusal is what a server means that answers but does not serve, by its error numbers or the
// beginnings of its codes.
type refusal struct {
	mysql    []uint16
	postgres []string
	means    string
}

var refusals = []refusal{
	{[]uint16{1044, 1045, 1698}, []string{"28", "42501"}, "refuses the user or the password"},
	{[]uint16{1049}, []string{"3D"}, "has no database of that name"},
	{[]uint16{1040, 1203, 1226}, []string{"53300"}, "has too many connections"},
	{[]uint16{1053}, []string{"57P"}, "is shutting down or starting"},
	{[]uint16{1021, 1114}, []string{"53100"}, full},
}

// full is what a server means that has no room for what is to be written.
const full = "is out of disk space"

// Silent is the [Trouble] of a database of which nothing better is known.
const Silent = "does not answer"

// Trouble says in a few words why a database does not serve. Its text continues "the database …",
// and has no addresses, so that clients may see it.
func Trouble(err error) string {
	mysql, isMySQL := errors.AsType[*mysqldriver.MySQLError](err)
	postgres, isPostgres := errors.AsType[*pgconn.PgError](err)
	for _, r := range refusals {
		if isMySQL && slices.Contains(r.mysql, mysql.Number) ||
			isPostgres && slices.ContainsFunc(r.postgres, func(class string) bool { return strings.HasPrefix(postgres.Code, class) }) {
			return r.means
		}
	}
	switch {
	case isMySQL || isPostgres:
		return "refuses what it is asked for; the log has more"
	case errors.Is(err, sqlite3.FULL):
		return full
	case errors.Is(err, sqlite3.CANTOPEN), errors.Is(err, sqlite3.IOERR), errors.Is(err, sqlite3.NOTADB), errors.Is(err, sqlite3.CORRUPT), errors.Is(err, sqlite3.READONLY):
		return "file cannot be used"
	default:
		return Silent
	}
}
