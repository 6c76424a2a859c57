package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
	"gorm.io/driver/mysql"
)

// Defaults that a DSN may override. A server that is silent for answerTimeout counts as gone, so
// that a wait for row locks has to end well before.
const (
	connectTimeout = 5 * time.Second
	answerTimeout  = 30 * time.Second
	rowLockWait    = 10 * time.Second
)

// openMySQL opens a MySQL or MariaDB server's database.
func openMySQL(dsn string, opts Options) (*DB, error) {
	cfg, err := parseMySQL(dsn)
	if err != nil {
		return nil, err
	}
	cfg.ParseTime = true
	cfg.Loc = time.UTC
	// One round trip instead of prepare, execute and close.
	cfg.InterpolateParams = true
	// The caller knows what an error means.
	cfg.Logger = &mysqldriver.NopLogger{}
	if cfg.Timeout == 0 {
		cfg.Timeout = connectTimeout
	}
	if cfg.ReadTimeout == 0 {
		cfg.ReadTimeout = answerTimeout
	}
	if cfg.WriteTimeout == 0 {
		cfg.WriteTimeout = answerTimeout
	}
	if cfg.Params == nil {
		cfg.Params = map[string]string{}
	}
	if cfg.Params["innodb_lock_wait_timeout"] == "" {
		cfg.Params["innodb_lock_wait_timeout"] = strconv.Itoa(int(rowLockWait.Seconds()))
	}
	connector, err := mysqldriver.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("database: open MySQL: %w", err)
	}
	if opts.ReadCommitted {
		connector = readCommitted{connector}
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(opts.Connections)
	pool.SetMaxIdleConns(opts.Connections)
	pool.SetConnMaxIdleTime(time.Minute)
	db := &DB{
		Dialect: MySQL, Where: fmt.Sprintf("mysql://%s/%s", cfg.Addr, cfg.DBName), ReadCommitted: opts.ReadCommitted, pools: []*sql.DB{pool},
	}
	// Asking for the version would need the server to be up already.
	db.Write, err = use(mysql.New(mysql.Config{Conn: pool, DSNConfig: cfg, SkipInitializeWithVersion: true}))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("database: open %s: %w", db.Where, err), db.Close())
	}
	db.Read = db.Write
	return db, nil
}

// parseMySQL reads a DSN, which has to name a database. A password stands in it as it is, whatever
// its characters.
func parseMySQL(dsn string) (*mysqldriver.Config, error) {
	const give = "give mysql://user:password@tcp(host:3306)/name"
	cfg, err := mysqldriver.ParseDSN(dsn)
	switch {
	// The driver's message can quote the DSN, and with it the password. A network that is none is
	// what stands before the address where the @ is missing.
	case err != nil, cfg.Net != "tcp" && cfg.Net != "unix":
		return nil, errors.New("database: the MySQL DSN makes no sense: " + give)
	case cfg.DBName == "":
		return nil, errors.New("database: the MySQL DSN names no database: " + give)
	default:
		return cfg, nil
	}
}

// readCommitted makes connections whose transactions are READ COMMITTED unless they ask for another
// level. A transaction that asks costs a statement of its own. It is no parameter of the DSN, as
// MySQL and MariaDB have different names for the variable.
type readCommitted struct{ driver.Connector }

// Connect implements [driver.Connector].
func (c readCommitted) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	execer, ok := conn.(driver.ExecerContext)
	if !ok {
		return nil, errors.Join(fmt.Errorf("database: a %T cannot set its isolation level", conn), conn.Close())
	}
	if _, err := execer.ExecContext(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", nil); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// The server's error numbers of transactions that collided. See
// https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html.
const (
	errChangedSinceRead = 1020
	errLockWaitTimeout  = 1205
	errDeadlock         = 1213
)

// mysqlContended reports whether an error says that transactions collided.
func mysqlContended(err error) bool {
	e, ok := errors.AsType[*mysqldriver.MySQLError](err)
	return ok && slices.Contains([]uint16{errLockWaitTimeout, errDeadlock, errChangedSinceRead}, e.Number)
}
