package sqlopen

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/ncruces/go-sqlite3/driver"

	"github.com/pathlock-go/pathlock/internal/dburl"
	"github.com/pathlock-go/pathlock/internal/storeurl"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// Connections is how many connections a store opens to a server at most, besides the one on which
// it listens for PostgreSQL's notifications. Operations wait for one in turn.
const Connections = 8

// sqliteConnections is the same for a file: who writes waits for its turn in the pool, and not in
// SQLite, which waits by sleeping.
const sqliteConnections = 1

// connectTimeout is how long it may take to connect, unless the URL says otherwise.
const connectTimeout = 5 * time.Second

// Open returns a store in the database that a URL names, with a pool of its own, which
// [sqlstore.Store.Close] closes. It does not connect: the first operation does, and
// [sqlstore.Store.Ping] tells whether it can. The tables have to be there: see
// [sqlstore.Store.Create].
//
//	mysql://user:password@tcp(host:3306)/name    MySQL and MariaDB: a DSN of go-sql-driver/mysql
//	postgres://user:password@host:5432/name      PostgreSQL: a URL of libpq
//	sqlite://PATH                                a file
//
// ?timeout=5s sets the time-out of calls: see [sqlstore.WithTimeout]. On MySQL, where it is the
// driver's time-out for connecting, it is that, too. The options prefix and max_waiters are those
// of [sqlstore.WithPrefix] and [sqlstore.WithMaxWaiters]. Others are the driver's, or settings of a
// session, which the server refuses by name at the first use if it does not know them; a file has
// none.
//
// On PostgreSQL, statements have no names, so that they work behind a pgbouncer in transaction
// mode. Where there is none, ?default_query_exec_mode=cache_statement lets the server keep their
// plans.
//
// Errors quote no more of the URL than its options: a password may be anywhere else.
func Open(rawURL string, opts ...sqlstore.Option) (*sqlstore.Store, error) {
	scheme, _, ok := strings.Cut(rawURL, "://")
	if !ok {
		return nil, errors.New("sqlopen: the URL has no scheme: give " + forms)
	}
	names := []string{"prefix", "max_waiters"}
	if scheme != "mysql" { // whose driver knows it, too
		names = append(names, "timeout")
	}
	rawURL, options := storeurl.Cut(rawURL, names...)
	_, rest, _ := strings.Cut(rawURL, "://")
	timeout, late := storeurl.TakeTimeout(options)
	waiters, none := storeurl.TakeNumber(options, "max_waiters", 1)
	if err := cmp.Or(late, none); err != nil {
		return nil, fmt.Errorf("sqlopen: %w", err)
	}
	var db *sql.DB
	var err error
	var dialect sqlstore.Dialect
	switch scheme {
	case "mysql":
		dialect = sqlstore.MySQL
		db, timeout, err = openMySQL(rest)
	case "postgres", "postgresql":
		dialect = sqlstore.Postgres
		db, err = openPostgres(rawURL)
	case "sqlite":
		dialect = sqlstore.SQLite
		db, err = openSQLite(rest)
	default:
		return nil, errors.New("sqlopen: unknown scheme: give " + forms)
	}
	if err != nil {
		return nil, err
	}
	fromURL := []sqlstore.Option{sqlstore.WithTimeout(timeout), sqlstore.WithMaxWaiters(waiters), sqlstore.WithOwnPool()}
	if options.Has("prefix") {
		fromURL = append(fromURL, sqlstore.WithPrefix(options.Get("prefix")))
	}
	opts = append(fromURL, opts...)
	store, err := sqlstore.New(db, dialect, opts...)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return store, nil
}

const forms = "mysql://user:password@tcp(host:3306)/name, postgres://user:password@host:5432/name or sqlite://PATH"

// openMySQL opens a pool whose statements take one round trip. It returns the DSN's timeout, too, 0
// if there is none.
func openMySQL(dsn string) (*sql.DB, time.Duration, error) {
	cfg, err := dburl.MySQL(dsn)
	if err != nil {
		return nil, 0, fmt.Errorf("sqlopen: %w", err)
	}
	timeout := cfg.Timeout
	cfg.InterpolateParams = true
	// The driver logs nothing: errors reach the caller.
	cfg.Logger = &mysql.NopLogger{}
	if cfg.Timeout == 0 {
		cfg.Timeout = connectTimeout
	}
	if cfg.Params == nil {
		cfg.Params = map[string]string{}
	}
	cfg.Params["autocommit"] = "1"
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, 0, errors.New("sqlopen: the MySQL DSN makes no sense")
	}
	return bounded(sql.OpenDB(connector), Connections), timeout, nil
}

func openPostgres(rawURL string) (*sql.DB, error) {
	var cfg *pgx.ConnConfig
	if err := dburl.Postgres(rawURL, func(url string) (_ string, err error) {
		if cfg, err = pgx.ParseConfig(url); err != nil {
			return "", err
		}
		return cfg.Database, nil
	}); err != nil {
		return nil, fmt.Errorf("sqlopen: %w", err)
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = connectTimeout
	}
	if !strings.Contains(rawURL, "default_query_exec_mode=") {
		cfg.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "pathlock"
	}
	return bounded(stdlib.OpenDB(*cfg), Connections), nil
}

// openSQLite opens a file. The write-ahead log lets others read while one writes. busy_timeout
// comes first, for switching the log on, and is 0 afterwards: the store itself waits for its turn,
// also where SQLite refuses one of two that switch the log on.
func openSQLite(path string) (*sql.DB, error) {
	if err := dburl.SQLite(path); err != nil {
		return nil, fmt.Errorf("sqlopen: %w", err)
	}
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()}
	name.RawQuery = "_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(normal)&_pragma=busy_timeout(0)"
	connector, err := (&driver.SQLite{}).OpenConnector(name.String())
	if err != nil {
		return nil, fmt.Errorf("sqlopen: open the SQLite file: %w", err)
	}
	return bounded(sql.OpenDB(connector), sqliteConnections), nil
}

// bounded limits a pool.
func bounded(db *sql.DB, connections int) *sql.DB {
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	db.SetConnMaxIdleTime(time.Minute)
	return db
}
