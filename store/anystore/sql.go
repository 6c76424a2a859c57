package anystore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/ncruces/go-sqlite3"

	"github.com/pathlock-go/pathlock/store/sqlstore"
	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
)

// openSQL opens a store in a table of a database, which it creates if it is missing and may be
// created.
func openSQL(_ context.Context, url string, o options) (opened, error) {
	var opts []sqlstore.Option
	if !o.noTables {
		opts = append(opts, sqlstore.WithTables())
	}
	store, err := sqlopen.Open(url, opts...)
	if err != nil {
		return opened{}, err
	}
	return opened{store: store, close: store.Close}, nil
}

// lockFile is what the file of the locks is called beside the path of its URL. A transaction in a
// SQLite file keeps everybody else from writing there, even the locks that the same transaction
// needs. So the path may be that of the file with a program's data, and the locks are in another
// one, for all programs that name it.
const lockFile = "-locks"

// openSQLite opens a store in a SQLite file beside the one that a URL names.
func openSQLite(ctx context.Context, url string, o options) (opened, error) {
	url, options, found := strings.Cut(url, "?")
	if path := strings.TrimPrefix(url, "sqlite://"); path != "" && path != ":memory:" {
		url += lockFile
	}
	if found {
		url += "?" + options
	}
	return openSQL(ctx, url, o)
}

// showSQLite shows the file of the locks.
func showSQLite(url string) string {
	url, _, _ = strings.Cut(url, "?")
	return url + lockFile
}

// showMySQL shows the address and the database of a DSN.
func showMySQL(url string) string {
	cfg, err := mysql.ParseDSN(strings.TrimPrefix(url, "mysql://"))
	if err != nil {
		return "mysql://"
	}
	return fmt.Sprintf("mysql://%s/%s", cfg.Addr, cfg.DBName)
}

// secureMySQL puts a password into a DSN, which does not encode it.
func secureMySQL(url, password string) (string, error) {
	dsn := strings.TrimPrefix(url, "mysql://")
	// As the driver reads it: what precedes the last slash ends its user with the last @.
	slash := strings.LastIndexByte(dsn, '/')
	at := strings.LastIndexByte(dsn[:max(slash, 0)], '@')
	switch {
	case at <= 0:
		return "", errNoUser
	case strings.Contains(dsn[:at], ":"):
		return "", errTwoPasswords
	}
	return "mysql://" + dsn[:at] + ":" + password + dsn[at:], nil
}

// showPostgres shows the host and the database of a URL.
func showPostgres(url string) string {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return "postgres://"
	}
	return fmt.Sprintf("postgres://%s:%d/%s", cfg.Host, cfg.Port, cfg.Database)
}

// sqlRefusal is what a database server means that answers but does not serve, by its error numbers
// or the beginnings of its codes.
type sqlRefusal struct {
	mysql    []uint16
	postgres []string
	means    string
}

var sqlRefusals = []sqlRefusal{
	{[]uint16{1044, 1045, 1698}, []string{"28"}, "refuses the user or the password"},
	{[]uint16{1142, 1143}, []string{"42501"}, "does not let the user do what locks need"},
	{[]uint16{1049}, []string{"3D"}, "has no database of that name"},
	{[]uint16{1146}, []string{"42P01"}, "has no table of locks"},
	{[]uint16{1054}, []string{"42703"}, "has a table of that name which is none of locks"},
	{[]uint16{1193}, []string{"42704"}, "does not know an option of the URL"},
	{[]uint16{1040, 1203, 1226}, []string{"53300"}, "has too many connections"},
	{[]uint16{1053}, []string{"57P"}, "is shutting down or starting"},
	{[]uint16{1290, 1792, 1836}, []string{"25006"}, "takes no writes"},
	{[]uint16{1021, 1114}, []string{"53100"}, "is out of disk space"},
}

// sqlTrouble says what a database's error means.
func sqlTrouble(err error) (means string, ok bool) {
	mysqlError, isMySQL := errors.AsType[*mysql.MySQLError](err)
	pgError, isPostgres := errors.AsType[*pgconn.PgError](err)
	for _, r := range sqlRefusals {
		if isMySQL && slices.Contains(r.mysql, mysqlError.Number) ||
			isPostgres && slices.ContainsFunc(r.postgres, func(class string) bool { return strings.HasPrefix(pgError.Code, class) }) {
			return r.means, true
		}
	}
	switch {
	case errors.Is(err, sqlstore.ErrTables):
		return "has a table of that name which is none of locks", true
	case errors.Is(err, sqlite3.CANTOPEN), errors.Is(err, sqlite3.IOERR), errors.Is(err, sqlite3.NOTADB),
		errors.Is(err, sqlite3.CORRUPT), errors.Is(err, sqlite3.READONLY), errors.Is(err, sqlite3.FULL):
		return "has a file that cannot be used", true
	default:
		return "", isMySQL || isPostgres
	}
}
