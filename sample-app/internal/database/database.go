// Package database opens the database that a URL names. The rest of the program need not know which
// kind it is.
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

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
	// Where describes the database to people. It has no password.
	Where string
	// ReadCommitted says that transactions are READ COMMITTED unless they ask for another level.
	ReadCommitted bool

	pools []*sql.DB
}

// Options are the settings of [Open]. The zero Options are the defaults.
type Options struct {
	// Connections is the largest number of connections to a server; 0 means [DefaultConnections].
	Connections int
	// ReadCommitted makes transactions READ COMMITTED on MySQL and MariaDB, unless they ask for
	// another level. Otherwise the level is the server's own.
	ReadCommitted bool
}

// DefaultConnections leaves room for several instances on a server with the usual limit of about
// 150 connections.
const DefaultConnections = 20

// Open opens the database that url names. It does not connect: the first statement does. A url is
//   - sqlite://PATH;
//   - mysql://DSN for MySQL and MariaDB, with a DSN of go-sql-driver/mysql, such as
//     user:password@tcp(127.0.0.1:3306)/testplan;
//   - a postgres:// URL of libpq.
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

// Pool returns the connection pool that writes, for statistics and for SQL that GORM cannot
// express.
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

// Bind replaces the question marks of a query by the placeholders of the database.
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

// use makes a gorm.DB on a pool. GORM logs nothing: errors reach the caller, who knows which of
// them to log.
func use(dialector gorm.Dialector) (*gorm.DB, error) {
	return gorm.Open(dialector, &gorm.Config{
		Logger:               logger.Discard,
		TranslateError:       true,
		DisableAutomaticPing: true,
	})
}
