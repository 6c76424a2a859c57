// Package database opens the database that a URL names. The rest of the program need not know which
// kind it is.
package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/pathlock-go/pathlock/internal/dburl"
)

// Dialect names an SQL dialect as GORM does.
type Dialect string

// The dialects that the program speaks.
const (
	SQLite   Dialect = "sqlite"
	MySQL    Dialect = "mysql"
	Postgres Dialect = "postgres"
)

// DB is an open database. Read and Write have pools of their own if the database lets only one
// connection write at once, and are the same otherwise.
type DB struct {
	Dialect Dialect
	// Write is for everything that changes rows.
	Write *gorm.DB
	// Read is for statements and transactions that change nothing.
	Read *gorm.DB
	// Plain writes, too, but no plugin is registered in it.
	Plain *gorm.DB
	// Where describes the database to people. It has no password.
	Where string

	pools []*sql.DB
}

// DefaultConnections is how many connections to a server a pool has at most, unless [DB.Limit] says
// otherwise. It leaves room for several instances on a server with the usual limit of about 150.
const DefaultConnections = 20

// Open opens the database that url names. It does not connect: the first statement does. A url is
//   - sqlite://PATH;
//   - mysql://DSN for MySQL and MariaDB, with a DSN of go-sql-driver/mysql, such as
//     user:password@tcp(127.0.0.1:3306)/testplan;
//   - a postgres:// URL of libpq.
func Open(url string) (*DB, error) {
	if err := Check(url); err != nil {
		return nil, err
	}
	scheme, rest, _ := strings.Cut(url, "://")
	switch scheme {
	case "sqlite":
		return openSQLite(rest)
	case "mysql":
		return openMySQL(rest)
	default:
		return openPostgres(url)
	}
}

// Check says why [Open] refuses url. Its errors quote no more of url than its options: if another
// part is missing or mistyped, the password may stand in its place.
func Check(url string) error {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return errors.New("the database URL has no scheme: give sqlite://PATH, mysql://user:password@tcp(host:3306)/name or postgres://user:password@host:5432/name")
	}
	var err error
	switch scheme {
	case "sqlite":
		err = dburl.SQLite(rest)
	case "mysql":
		_, err = dburl.MySQL(rest)
	case "postgres", "postgresql":
		_, err = parsePostgres(url)
	default:
		err = errors.New("unknown database scheme: supported are sqlite://, mysql:// and postgres://")
	}
	return err
}

// Ping reports whether the database answers.
func (d *DB) Ping(ctx context.Context) error {
	// The last pool is the one that reads: busy writers do not mean that the database is gone.
	if err := d.pools[len(d.pools)-1].PingContext(ctx); err != nil {
		return fmt.Errorf("database: ping %s: %w", d.Where, err)
	}
	return nil
}

// Limit sets how many connections to a server there are at most. A file keeps the number it needs.
func (d *DB) Limit(connections int) {
	if d.Dialect != SQLite {
		d.Pool().SetMaxOpenConns(connections)
		d.Pool().SetMaxIdleConns(connections)
	}
}

// Pool returns the connection pool that writes.
func (d *DB) Pool() *sql.DB { return d.pools[0] }

// Splice returns the SQL of a text followed by the end of a column's text. Its placeholders are the
// text and the number, from 1, of the first character that stays.
func (d Dialect) Splice(column string) string {
	if d == Postgres {
		// PostgreSQL cannot tell the types of these placeholders.
		return `CAST(? AS TEXT) || SUBSTRING(` + column + `, CAST(? AS INTEGER))`
	}
	return `CONCAT(?, SUBSTRING(` + column + `, ?))`
}

// Close closes all connections.
func (d *DB) Close() error {
	var errs []error
	for _, pool := range d.pools {
		errs = append(errs, pool.Close())
	}
	return errors.Join(errs...)
}

// finish makes the gorm.DBs on the pools, the first of which writes, and the last of which reads.
// GORM logs nothing: errors reach the caller, who knows which of them to log.
func (d *DB) finish(dialector func(*sql.DB) gorm.Dialector) (*DB, error) {
	use := func(pool *sql.DB) (*gorm.DB, error) {
		return gorm.Open(dialector(pool), &gorm.Config{Logger: logger.Discard, TranslateError: true, DisableAutomaticPing: true})
	}
	var errs [3]error
	d.Write, errs[0] = use(d.pools[0])
	d.Plain, errs[1] = use(d.pools[0])
	if d.Read = d.Write; len(d.pools) > 1 {
		d.Read, errs[2] = use(d.pools[1])
	}
	if err := errors.Join(errs[:]...); err != nil {
		return nil, errors.Join(fmt.Errorf("database: open %s: %w", d.Where, err), d.Close())
	}
	return d, nil
}

// poolOf returns a pool of connections to a server.
func poolOf(connector driver.Connector) *sql.DB {
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(DefaultConnections)
	pool.SetMaxIdleConns(DefaultConnections)
	pool.SetConnMaxIdleTime(time.Minute)
	return pool
}
