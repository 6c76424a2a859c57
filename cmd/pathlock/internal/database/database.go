// Package database opens the database that a URL names.
package database

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/ncruces/go-sqlite3/driver"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/dburl"
)

// Supported lists the URLs that [Open] takes, for messages.
const Supported = "sqlite://PATH, mysql://user:password@tcp(host:3306)/name and postgres://user:password@host:5432/name"

// ErrURL is matched by the error for a URL that names no database.
var ErrURL = errors.New("database URL")

// Open opens the database that a URL names, without connecting to it. Errors match [ErrURL], and
// contain no passwords.
func Open(name string) (*sql.DB, fsck.Dialect, error) {
	scheme, rest, ok := strings.Cut(name, "://")
	switch {
	case !ok:
		return nil, "", fmt.Errorf("%w: it has no scheme: supported are %s", ErrURL, Supported)
	case scheme == "sqlite":
		db, err := openSQLite(rest)
		return db, fsck.SQLite, err
	case scheme == "mysql":
		db, err := openMySQL(rest)
		return db, fsck.MySQL, err
	case scheme == "postgres", scheme == "postgresql":
		db, err := openPostgres(name)
		return db, fsck.PostgreSQL, err
	default:
		// In an arbitrary text, what precedes the :// may contain a password.
		return nil, "", fmt.Errorf("%w: its scheme is unknown: supported are %s", ErrURL, Supported)
	}
}

// openSQLite opens an existing file. A writing transaction waits at most 30 seconds for others.
func openSQLite(path string) (*sql.DB, error) {
	if err := dburl.SQLite(path); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrURL, err)
	}
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: "mode=rw&_pragma=busy_timeout(30000)"}
	db, err := driver.Open(name.String())
	if err != nil {
		return nil, fmt.Errorf("%w: sqlite://%s: %w", ErrURL, path, err)
	}
	return db, nil
}

func openMySQL(dsn string) (*sql.DB, error) {
	cfg, err := dburl.MySQL(dsn)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrURL, err)
	}
	// One round trip instead of three: prepare, execute and close.
	cfg.InterpolateParams = true
	cfg.Logger = &mysqldriver.NopLogger{} // errors are returned
	connector, err := mysqldriver.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("%w: MySQL: %w", ErrURL, err)
	}
	return sql.OpenDB(connector), nil
}

func openPostgres(name string) (*sql.DB, error) {
	var cfg *pgx.ConnConfig
	if err := dburl.Postgres(name, func(url string) (_ string, err error) {
		if cfg, err = pgx.ParseConfig(url); err != nil {
			return "", err
		}
		return cfg.Database, nil
	}); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrURL, err)
	}
	if !strings.Contains(name, "default_query_exec_mode=") {
		// A pgbouncer in transaction mode loses statements that have names.
		cfg.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	return stdlib.OpenDB(*cfg), nil
}
