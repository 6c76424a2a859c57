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
)

// Supported lists the URLs that [Open] takes, for messages.
const Supported = "sqlite://PATH, mysql://user:password@tcp(host:3306)/name and postgres://user:password@host:5432/name"

// Open opens the database that a URL names. Nothing is connected to before it is used. Errors do not contain passwords.
func Open(name string) (*sql.DB, fsck.Dialect, error) {
	scheme, rest, ok := strings.Cut(name, "://")
	switch {
	case !ok:
		return nil, 0, errors.New("the database URL has no scheme: supported are " + Supported)
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
		return nil, 0, fmt.Errorf("unknown database scheme %q: supported are %s", scheme, Supported)
	}
}

// openSQLite opens a file that exists. A transaction that writes waits for others half a minute at most.
func openSQLite(path string) (*sql.DB, error) {
	if path == "" || path == ":memory:" {
		return nil, errors.New("SQLite needs a file: give sqlite://PATH")
	}
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: "mode=rw&_pragma=busy_timeout(30000)"}
	db, err := driver.Open(name.String())
	if err != nil {
		return nil, fmt.Errorf("open sqlite://%s: %w", path, err)
	}
	return db, nil
}

func openMySQL(dsn string) (*sql.DB, error) {
	cfg, err := mysqldriver.ParseDSN(dsn)
	if err != nil || cfg.DBName == "" {
		// The driver's message can quote the DSN, and with it the password.
		return nil, errors.New("the MySQL DSN makes no sense: give mysql://user:password@tcp(host:3306)/name")
	}
	// One round trip instead of prepare, execute and close.
	cfg.InterpolateParams = true
	cfg.Logger = &mysqldriver.NopLogger{} // what goes wrong is returned
	connector, err := mysqldriver.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("open MySQL: %w", err)
	}
	return sql.OpenDB(connector), nil
}

func openPostgres(name string) (*sql.DB, error) {
	cfg, err := pgx.ParseConfig(name)
	if err != nil {
		return nil, errors.New("the PostgreSQL URL makes no sense: give postgres://user:password@host:5432/name")
	}
	return stdlib.OpenDB(*cfg), nil
}
