package plans

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/pathlock-go/pathlock/store/sqlstore"
	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
)

// DB is an open database. Read and Write have pools of their own if the database lets only one
// connection write at once, and are the same otherwise.
type DB struct {
	Dialect sqlstore.Dialect
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

// defaultConnections is how many connections to a server a pool has at most. It leaves room for
// several instances on a server with the usual limit of about 150.
const defaultConnections = 20

// readConnections is the number of connections that only read an SQLite file.
const readConnections = 4

// answerTimeout is after how long a silent server counts as gone, unless the URL says otherwise. A
// wait for row locks has to end well before that.
const answerTimeout = 30 * time.Second

// OpenDB opens the database that a URL names, as [sqlopen.Parse] reads it. It does not connect: the
// first statement does. It keeps at most that many connections to a server, 20 if connections is 0.
// A file has as many as it needs.
func OpenDB(url string, connections int) (*DB, error) {
	connections = cmp.Or(connections, defaultConnections)
	d, err := sqlopen.Parse(url)
	if err != nil {
		return nil, err
	}
	db := &DB{Dialect: d.Dialect, Where: d.String()}
	switch d.Dialect {
	case sqlstore.MySQL:
		c := d.MySQL
		c.ParseTime, c.Loc = true, time.UTC
		c.ReadTimeout, c.WriteTimeout = cmp.Or(c.ReadTimeout, answerTimeout), cmp.Or(c.WriteTimeout, answerTimeout)
		c.Params["innodb_lock_wait_timeout"] = cmp.Or(c.Params["innodb_lock_wait_timeout"], "10")
		err = db.pool(d, connections)
	case sqlstore.Postgres:
		set := d.Postgres.RuntimeParams
		set["lock_timeout"] = cmp.Or(set["lock_timeout"], "10s")
		set["application_name"] = cmp.Or(set["application_name"], "pathlock-sample")
		if !strings.Contains(url, "default_query_exec_mode=") {
			d.Postgres.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement // the server keeps plans
		}
		err = db.pool(d, connections)
	default:
		// One connection writes: requests of this process then wait in the pool, and not in SQLite,
		// which waits by sleeping. It takes the write lock when a transaction begins, because a
		// later upgrade may end in SQLITE_BUSY however long one waits. The write-ahead log lets
		// other connections read meanwhile. busy_timeout comes first: the other pragmas may already
		// have to wait for another process.
		const shared = "_pragma=busy_timeout(30000)&_pragma=journal_mode(wal)&_pragma=synchronous(normal)"
		d.SQLite.RawQuery = shared + "&_txlock=immediate"
		if err = db.pool(d, 1); err == nil {
			d.SQLite.RawQuery = shared + "&_pragma=query_only(1)"
			err = db.pool(d, readConnections)
		}
	}
	if err == nil {
		err = db.useGORM()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("database: open %s: %w", db.Where, err), db.Close())
	}
	return db, nil
}

// pool opens a pool of connections.
func (d *DB) pool(database *sqlopen.Database, connections int) error {
	pool, err := open(database)
	if err != nil {
		return err
	}
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	if d.Dialect != sqlstore.SQLite {
		pool.SetConnMaxIdleTime(time.Minute)
	}
	d.pools = append(d.pools, pool)
	return nil
}

func open(database *sqlopen.Database) (*sql.DB, error) {
	if database.Dialect != sqlstore.MySQL {
		return database.Open()
	}
	connector, err := mysqldriver.NewConnector(database.MySQL)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(readCommitted{connector}), nil
}

// readCommitted connects to MySQL in sessions that isolate as [isolation] wants it. The driver
// would need a statement of its own for that in each transaction.
type readCommitted struct{ driver.Connector }

// Connect implements [driver.Connector].
func (c readCommitted) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	// MySQL and MariaDB have different names for the variable.
	_, err = conn.(driver.ExecerContext).ExecContext(ctx, `SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED`, nil)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// useGORM makes the gorm.DBs on the pools, the first of which writes, and the last of which reads.
// GORM logs nothing: errors reach the caller, who knows which of them to log.
func (d *DB) useGORM() error {
	use := func(pool *sql.DB) (*gorm.DB, error) {
		var dialector gorm.Dialector
		switch d.Dialect {
		case sqlstore.MySQL:
			// GORM would ask for the version, and the server need not be up yet.
			dialector = mysql.New(mysql.Config{Conn: pool, SkipInitializeWithVersion: true})
		case sqlstore.Postgres:
			dialector = postgres.New(postgres.Config{Conn: pool})
		default:
			dialector = gormlite.OpenDB(pool)
		}
		return gorm.Open(dialector, &gorm.Config{Logger: logger.Discard, TranslateError: true, DisableAutomaticPing: true})
	}
	var errs [3]error
	d.Write, errs[0] = use(d.pools[0])
	d.Plain, errs[1] = use(d.pools[0])
	if d.Read = d.Write; len(d.pools) > 1 {
		d.Read, errs[2] = use(d.pools[1])
	}
	return errors.Join(errs[:]...)
}

// Ping reports whether the database answers.
func (d *DB) Ping(ctx context.Context) error {
	// Busy writers do not mean that the database is gone.
	if err := d.readPool().PingContext(ctx); err != nil {
		return fmt.Errorf("database: ping %s: %w", d.Where, err)
	}
	return nil
}

// Pool returns the connection pool that writes.
func (d *DB) Pool() *sql.DB { return d.pools[0] }

// readPool returns the one that reads, which may be the same.
func (d *DB) readPool() *sql.DB { return d.pools[len(d.pools)-1] }

// Close closes all connections.
func (d *DB) Close() error {
	var errs []error
	for _, pool := range d.pools {
		errs = append(errs, pool.Close())
	}
	return errors.Join(errs...)
}

// Scratch creates an empty database beside the one that server names, and returns its URL and a
// function that removes it. For sqlite://, it is a file in a new folder beside the path, or in the
// system's temporary folder if there is no path. For mysql:// and postgres://, it is a database
// whose name begins with the given one's. The database that server names stays as it is.
func Scratch(ctx context.Context, server string) (scratch string, remove func(context.Context) error, err error) {
	if path, ok := strings.CutPrefix(server, "sqlite://"); ok {
		beside := ""
		if path != "" {
			beside = filepath.Dir(path)
		}
		dir, err := os.MkdirTemp(beside, "pathlock-sample-*")
		return "sqlite://" + filepath.Join(dir, "scratch.db"), func(context.Context) error { return os.RemoveAll(dir) }, err
	}
	d, err := sqlopen.Parse(server)
	if err != nil {
		return "", nil, err
	}
	run := func(ctx context.Context, statement string) error {
		pool, err := d.Open()
		if err != nil {
			return err
		}
		_, err = pool.ExecContext(ctx, statement)
		return errors.Join(err, pool.Close())
	}
	suffix := "_" + strings.ToLower(rand.Text()[:8])
	var create, drop string
	if d.Dialect == sqlstore.MySQL {
		name := fmt.Sprintf("%.40s", d.MySQL.DBName) + suffix
		d.MySQL.DBName = "" // which need not exist
		slash := strings.LastIndexByte(server, '/')
		_, options, _ := strings.Cut(server[slash:], "?")
		scratch = server[:slash+1] + name + "?" + options
		quoted := "`" + strings.ReplaceAll(name, "`", "``") + "`"
		create, drop = `CREATE DATABASE `+quoted, `DROP DATABASE `+quoted
	} else {
		beside, err := url.Parse(server)
		if err != nil {
			return "", nil, errors.New("database: the PostgreSQL URL makes no sense: give postgres://user:password@host:5432/name")
		}
		beside.Path = "/" + fmt.Sprintf("%.40s", d.Postgres.Database) + suffix
		scratch = beside.String()
		quoted := pgx.Identifier{beside.Path[1:]}.Sanitize()
		create, drop = `CREATE DATABASE `+quoted+` TEMPLATE template0 ENCODING 'UTF8'`, `DROP DATABASE `+quoted+` WITH (FORCE)`
	}
	if err := run(ctx, create); err != nil {
		return "", nil, fmt.Errorf("database: create a scratch database: %w", err)
	}
	return scratch, func(ctx context.Context) error { return run(ctx, drop) }, nil
}
