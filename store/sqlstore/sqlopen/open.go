// Package sqlopen opens databases, and lock stores in them, by URL. It has the drivers of all of
// them. That of SQLite (github.com/ncruces/go-sqlite3) registers itself as "sqlite3". A program
// with another driver of that name uses [sqlstore.New] instead.
package sqlopen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/storeurl"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// connections is how many connections a store opens to a server at most, besides the one on which
// it listens for PostgreSQL's notifications. Operations wait for one in turn.
const connections = 8

// sqliteConnections is the same for a file: a writer waits for its turn in the pool, and not in
// SQLite, which waits by sleeping.
const sqliteConnections = 1

// sqliteOptions are those of a lock store. The write-ahead log lets others read while one writes.
// busy_timeout comes first, for switching the log on, and is 0 afterwards: the store itself waits
// for its turn, even if SQLite refuses one of two that switch the log on.
const sqliteOptions = "_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(normal)&_pragma=busy_timeout(0)"

// Open returns a store in the database that a URL names, with a pool of its own, which
// [sqlstore.Store.Close] closes. It does not connect: the first operation does, and
// [sqlstore.Store.Ping] tells whether it can. The tables have to be there: see
// [sqlstore.Store.Create].
//
//	mysql://user:password@tcp(host:3306)/name    MySQL and MariaDB: a DSN of go-sql-driver/mysql
//	postgres://user:password@host:5432/name      PostgreSQL: a URL of libpq
//	sqlite://PATH                                a file
//
// ?timeout=5s sets the time-out of calls: see [sqlstore.WithTimeout]. On MySQL it is also the
// driver's own option, the time-out for connecting. The options prefix and max_waiters are those of
// [sqlstore.WithPrefix] and [sqlstore.WithMaxWaiters]. Others are the driver's, or settings of a
// session, which the server refuses by name at the first use if it does not know them; a file has
// none.
//
// On PostgreSQL, statements have no names, so that they work behind a pgbouncer in transaction
// mode. Without one, ?default_query_exec_mode=cache_statement lets the server keep their plans.
//
// Errors quote no more of the URL than its options: a password may be anywhere else.
func Open(rawURL string, opts ...sqlstore.Option) (*sqlstore.Store, error) {
	rawURL, options := storeurl.Cut(rawURL, "prefix", "max_waiters", "timeout")
	timeout, late := storeurl.TakeTimeout(options)
	waiters, none := storeurl.TakeNumber(options, "max_waiters", 1)
	if err := cmp.Or(late, none); err != nil {
		return nil, fmt.Errorf("sqlopen: %w", err)
	}
	d, err := Parse(rawURL)
	if err != nil {
		return nil, err
	}
	most := connections
	switch d.Dialect {
	case sqlstore.MySQL:
		d.MySQL.Timeout = cmp.Or(timeout, d.MySQL.Timeout)
		d.MySQL.Params["autocommit"] = "1"
	case sqlstore.Postgres:
		d.Postgres.RuntimeParams["application_name"] = cmp.Or(d.Postgres.RuntimeParams["application_name"], "pathlock")
	default:
		d.SQLite.RawQuery = sqliteOptions
		most = sqliteConnections
	}
	db, err := d.Open()
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most)
	db.SetConnMaxIdleTime(time.Minute)
	fromURL := []sqlstore.Option{sqlstore.WithTimeout(timeout), sqlstore.WithMaxWaiters(waiters), sqlstore.WithClosePool()}
	if options.Has("prefix") {
		fromURL = append(fromURL, sqlstore.WithPrefix(options.Get("prefix")))
	}
	store, err := sqlstore.New(db, d.Dialect, append(fromURL, opts...)...)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return store, nil
}

// Kind is the option with which anystore.Open takes the URLs of [Open]. It makes the tables if they
// are missing, unless anystore.WithoutTables says otherwise, and keeps the locks of sqlite://PATH
// in the file PATH-locks.
func Kind(o *storeurl.Options) {
	o.Kinds = append(o.Kinds,
		storeurl.Kind{
			Schemes: []string{"mysql"}, Forms: []string{"mysql://user:password@tcp(host:3306)/name"},
			Open: openStore, Show: show, Secure: secureMySQL,
		},
		storeurl.Kind{
			Schemes: []string{"postgres", "postgresql"}, Forms: []string{"postgres://user:password@host:5432/name"},
			Open: openStore, Show: show,
		},
		storeurl.Kind{
			Schemes: []string{"sqlite"}, Forms: []string{"sqlite://PATH"},
			Open: func(ctx context.Context, url string, o storeurl.Options) (pathlock.Store, error) {
				return openStore(ctx, besideData(url), o)
			},
			Show: showSQLite, Secure: storeurl.NoPassword,
		},
	)
}

// openStore opens a store in a table of a database, which it creates if it is missing and may be
// created.
func openStore(_ context.Context, url string, o storeurl.Options) (pathlock.Store, error) {
	var opts []sqlstore.Option
	if !o.NoTables {
		opts = append(opts, sqlstore.WithAutoCreate())
	}
	return Open(url, opts...)
}

// besideData returns the URL of the file of locks beside the SQLite file of a URL. A transaction in
// a SQLite file keeps everybody else from writing there, even the locks that the same transaction
// needs. So the path may be that of the file with a program's data, and the locks are in another
// one, for all programs that name it.
func besideData(url string) string {
	path, options, found := strings.Cut(strings.TrimPrefix(url, "sqlite://"), "?")
	if path != "" && path != ":memory:" {
		path += "-locks"
	}
	if found {
		path += "?" + options
	}
	return "sqlite://" + path
}

// show shows the address and the database.
func show(url string) string {
	d, err := Parse(url)
	if err != nil {
		return storeurl.Scheme(url) + "://"
	}
	return d.String()
}

// showSQLite shows the file of the locks.
func showSQLite(url string) string {
	file, _, _ := strings.Cut(besideData(url), "?")
	return file
}

// secureMySQL puts a password into a DSN, which does not encode it.
func secureMySQL(url, password string) (string, error) {
	dsn := strings.TrimPrefix(url, "mysql://")
	// As the driver reads it: what precedes the last slash ends its user with the last @.
	slash := strings.LastIndexByte(dsn, '/')
	at := strings.LastIndexByte(dsn[:max(slash, 0)], '@')
	switch {
	case at <= 0:
		return "", storeurl.ErrNoUser
	case strings.Contains(dsn[:at], ":"):
		return "", storeurl.ErrTwoPasswords
	}
	return "mysql://" + dsn[:at] + ":" + password + dsn[at:], nil
}
