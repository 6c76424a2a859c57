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

	"github.com/pathlock-go/pathlock/internal/storeurl"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// connectTimeout is how long it may take to connect, unless the URL says otherwise.
const connectTimeout = 5 * time.Second

// Database is a database that a URL names, as its driver reads the URL. A program may change the
// settings of the driver before it opens the database. Those of other drivers are nil.
type Database struct {
	Dialect  sqlstore.Dialect
	MySQL    *mysql.Config
	Postgres *pgx.ConnConfig
	// SQLite is the name of a file, with the options of the driver as a query.
	SQLite *url.URL

	path string
}

const forms = "sqlite://PATH, mysql://user:password@tcp(host:3306)/name or postgres://user:password@host:5432/name"

// Parse reads the URL of a database, which [Open] describes. Unless the URL says otherwise,
// connecting may take five seconds, and statements on PostgreSQL have no names. Errors name what is
// wrong, and quote no more of the URL than its options: a password may be anywhere else.
func Parse(rawURL string) (*Database, error) {
	d := &Database{}
	scheme, rest, ok := strings.Cut(rawURL, "://")
	var err error
	switch {
	case !ok:
		err = errors.New("the URL has no scheme: give " + forms)
	case scheme == "mysql":
		d.Dialect = sqlstore.MySQL
		d.MySQL, err = parseMySQL(rest)
	case scheme == "postgres", scheme == "postgresql":
		d.Dialect = sqlstore.Postgres
		d.Postgres, err = parsePostgres(rawURL)
	case scheme == "sqlite":
		d.Dialect, d.path = sqlstore.SQLite, rest
		d.SQLite, err = parseSQLite(rest)
	default:
		err = errors.New("the URL's scheme is unknown: give " + forms)
	}
	if err != nil {
		return nil, fmt.Errorf("sqlopen: %w", err)
	}
	return d, nil
}

// Open opens a pool of connections, without connecting.
func (d *Database) Open() (*sql.DB, error) {
	switch d.Dialect {
	case sqlstore.MySQL:
		connector, err := mysql.NewConnector(d.MySQL)
		if err != nil {
			return nil, fmt.Errorf("sqlopen: open %v: %w", d, err)
		}
		return sql.OpenDB(connector), nil
	case sqlstore.Postgres:
		return stdlib.OpenDB(*d.Postgres), nil
	default:
		db, err := driver.Open(d.SQLite.String())
		if err != nil {
			return nil, fmt.Errorf("sqlopen: open %v: %w", d, err)
		}
		return db, nil
	}
}

// String describes the database to people, without user, password and options.
func (d *Database) String() string {
	switch d.Dialect {
	case sqlstore.MySQL:
		return fmt.Sprintf("mysql://%s/%s", d.MySQL.Addr, d.MySQL.DBName)
	case sqlstore.Postgres:
		return fmt.Sprintf("postgres://%s:%d/%s", d.Postgres.Host, d.Postgres.Port, d.Postgres.Database)
	default:
		return "sqlite://" + d.path
	}
}

// parseMySQL reads a DSN. A statement takes one round trip then, and the driver logs nothing.
func parseMySQL(dsn string) (*mysql.Config, error) {
	const give = ": give mysql://user:password@tcp(host:3306)/name"
	bad := errors.New("the MySQL DSN makes no sense" + give)
	slash := strings.LastIndexByte(dsn, '/') // where the driver looks for the name
	name, options, _ := strings.Cut(dsn[slash+1:], "?")
	cfg, err := mysql.ParseDSN(dsn[:slash+1] + name)
	switch {
	// In a DSN without @, the driver takes what precedes the address for the network.
	case err != nil, cfg.Net != "tcp" && cfg.Net != "unix":
		return nil, bad
	case cfg.DBName == "":
		return nil, errors.New("the MySQL DSN names no database" + give)
	case cfg.Net == "tcp" && storeurl.CheckPort(cfg.Addr) != nil:
		return nil, fmt.Errorf("the MySQL DSN: %w%s", storeurl.ErrPort, give)
	}
	if cfg, err = mysql.ParseDSN(dsn); err == nil {
		cfg.InterpolateParams, cfg.Logger = true, &mysql.NopLogger{}
		cfg.Timeout = cmp.Or(cfg.Timeout, connectTimeout)
		if cfg.Params == nil {
			cfg.Params = map[string]string{}
		}
		return cfg, nil
	}
	for option := range strings.SplitSeq(options, "&") {
		if _, err := mysql.ParseDSN("/?" + option); err != nil && !strings.Contains(options, "@") {
			option, _, _ = strings.Cut(option, "=")
			return nil, fmt.Errorf("the MySQL DSN's option %s makes no sense%s", option, give)
		}
	}
	return nil, bad
}

// parsePostgres reads a URL, which has to name a database.
func parsePostgres(rawURL string) (*pgx.ConnConfig, error) {
	const give = ": give postgres://user:password@host:5432/name, with / ? # @ % in a password as %2F %3F %23 %40 %25"
	bad := errors.New("the PostgreSQL URL makes no sense" + give)
	base, options, _ := strings.Cut(rawURL, "?")
	_, hosts, _ := strings.Cut(base, "://")
	hosts, name, _ := strings.Cut(hosts, "/")
	cfg, err := pgx.ParseConfig(rawURL)
	switch {
	// A # is never right. A second @ would be in the host. One behind the hosts means that the
	// password has a slash, and that half of it was taken for a port.
	case strings.Contains(rawURL, "#"), strings.Count(hosts, "@") > 1, strings.Contains(name, "@"), err != nil && strings.Contains(options, "@"):
		return nil, bad
	case err == nil && cfg.Database == "":
		return nil, errors.New("the PostgreSQL URL names no database" + give)
	case err == nil:
		cfg.ConnectTimeout = cmp.Or(cfg.ConnectTimeout, connectTimeout)
		if !strings.Contains(options, "default_query_exec_mode=") {
			// A pgbouncer in transaction mode loses statements that have names.
			cfg.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
		}
		return cfg, nil
	}
	for host := range strings.SplitSeq(hosts[strings.LastIndexByte(hosts, '@')+1:], ",") {
		if _, port, found := strings.Cut(host[strings.LastIndexByte(host, ']')+1:], ":"); found && storeurl.CheckPort("host:"+port) != nil {
			return nil, fmt.Errorf("the PostgreSQL URL: %w%s", storeurl.ErrPort, give)
		}
	}
	if _, err := pgx.ParseConfig("postgres://host?" + options); err != nil {
		// The driver's error begins with the URL, and the reason follows.
		_, why, _ := strings.Cut(err.Error(), "`: ")
		return nil, fmt.Errorf("the PostgreSQL URL's options: %s", why)
	}
	return nil, bad
}

// parseSQLite refuses a path that is not that of a file.
func parseSQLite(path string) (*url.URL, error) {
	if path == "" || path == ":memory:" {
		return nil, errors.New("SQLite needs a file that several connections can open: give sqlite://PATH")
	}
	if _, option, found := strings.Cut(path, "?"); found {
		option, _, _ = strings.Cut(option, "=")
		return nil, fmt.Errorf("a SQLite file has no option %q: give sqlite://PATH, with no ? in the path", option)
	}
	return &url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()}, nil
}
