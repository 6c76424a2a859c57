// Package database opens the database that a URL names, so that the rest of
// the program need not know which one it is.
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Dialect names an SQL dialect as GORM does.
type Dialect string

// The dialects that the program speaks.
const (
	SQLite   Dialect = "sqlite"
	MySQL    Dialect = "mysql"
	Postgres Dialect = "postgres"
)

// DB is an open database. Where the database lets only one connection write
// at once, Read and Write have pools of their own; otherwise they are the same.
type DB struct {
	Dialect Dialect
	// Write is for everything that changes something.
	Write *gorm.DB
	// Read is for statements and read-only transactions that change nothing.
	Read *gorm.DB
	// Where says for people which database it is; it contains no password.
	Where string

	// ReadCommitted is set if that is the level of every transaction that does not ask for another
	// one.
	ReadCommitted bool

	pools []*sql.DB
}

// Options are the settings of [Open]. The zero Options are the defaults.
type Options struct {
	// Connections is how many connections a server is asked for at most; 0 means
	// [DefaultConnections].
	Connections int
	// ReadCommitted makes that the level of every transaction that does not ask for another one, on
	// a server that would have to be asked again and again. Without it the level is the server's
	// own.
	ReadCommitted bool
}

// DefaultConnections leaves room for several instances beside each other on a
// server with the usual limit of about 150 connections.
const DefaultConnections = 20

// Open opens the database that url names: sqlite://PATH; mysql://DSN for MySQL and MariaDB, where
// DSN is as go-sql-driver/mysql has it, such as user:password@tcp(127.0.0.1:3306)/testplan; or a
// postgres:// URL as libpq has it. Nothing is connected to before it is used.
func Open(url string, opts Options) (*DB, error) {
	if opts.Connections <= 0 {
		opts.Connections = DefaultConnections
	}
	if err := Check(url); err != nil {
		return nil, err
	}
	scheme, rest, _ := strings.Cut(url, "://")
	switch scheme {
	case "sqlite":
		return openSQLite(rest)
	case "mysql":
		return openMySQL(rest, opts)
	default:
		return openPostgres(url, opts.Connections)
	}
}

// Check reports whether [Open] takes url. Its errors quote nothing of it: wherever a part is
// missing or has a slip of the pen, a password may stand in its place.
func Check(url string) error {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return errors.New("the database URL has no scheme: give sqlite://PATH, mysql://user:password@tcp(host:3306)/name or postgres://user:password@host:5432/name")
	}
	var err error
	switch scheme {
	case "sqlite":
		err = checkPath(rest)
	case "mysql":
		_, err = parseMySQL(rest)
	case "postgres", "postgresql":
		_, err = parsePostgres(url)
	default:
		err = errors.New("unknown database scheme: supported are sqlite://, mysql:// and postgres://")
	}
	return err
}

// Ping reports whether the database answers.
func (d *DB) Ping(ctx context.Context) error {
	// The last pool is one that reads: that writers are busy does not mean that the database is
	// gone.
	if err := d.pools[len(d.pools)-1].PingContext(ctx); err != nil {
		return fmt.Errorf("database: ping %s: %w", d.Where, err)
	}
	return nil
}

// Pool returns the connection pool that writes, for statistics and for what GORM has no word for.
func (d *DB) Pool() *sql.DB { return d.pools[0] }

// Splice returns the SQL for a text and the end of a column's text in one: its
// placeholders are the text, and the number of the column's first character.
func (d Dialect) Splice(column string) string {
	if d == Postgres {
		// Placeholders have no type of their own there.
		return `CAST(? AS TEXT) || SUBSTRING(` + column + `, CAST(? AS INTEGER))`
	}
	return `CONCAT(?, SUBSTRING(` + column + `, ?))`
}

// Bind writes the placeholders of a query, which are question marks, as the database has them.
func (d *DB) Bind(query string) string {
	if d.Dialect == Postgres {
		return numbered(query)
	}
	return query
}

// Close closes all connections.
func (d *DB) Close() error {
	var errs []error
	for _, pool := range d.pools {
		errs = append(errs, pool.Close())
	}
	return errors.Join(errs...)
}

// use makes a gorm.DB on a pool. Errors reach the caller, who knows which of
// them deserve a line in the log: GORM itself is silent.
func use(dialector gorm.Dialector) (*gorm.DB, error) {
	return gorm.Open(dialector, &gorm.Config{
		Logger:               logger.Discard,
		TranslateError:       true,
		DisableAutomaticPing: true,
	})
}
