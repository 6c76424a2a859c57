package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
	"gorm.io/driver/mysql"

	"github.com/pathlock-go/pathlock/internal/dburl"
)

// Defaults that a DSN may override. A server that is silent for answerTimeout counts as gone, so a
// wait for row locks has to end well before that.
const (
	connectTimeout = 5 * time.Second
	answerTimeout  = 30 * time.Second
	rowLockWait    = 10 * time.Second
)

// openMySQL opens a database on a MySQL or MariaDB server.
func openMySQL(dsn string, opts Options) (*DB, error) {
	cfg, err := dburl.MySQL(dsn)
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	cfg.ParseTime = true
	cfg.Loc = time.UTC
	// One round trip instead of prepare, execute and close.
	cfg.InterpolateParams = true
	// The driver logs nothing: errors reach the caller.
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
	// GORM would ask for the version, and the server need not be up yet.
	db.Write, err = use(mysql.New(mysql.Config{Conn: pool, DSNConfig: cfg, SkipInitializeWithVersion: true}))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("database: open %s: %w", db.Where, err), db.Close())
	}
	db.Read = db.Write
	return db, nil
}

// readCommitted makes connections whose transactions are READ COMMITTED unless they ask for another
// level. Asking in each transaction would cost a statement. A parameter of the DSN cannot say it,
// because MySQL and MariaDB have different names for the variable.
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
