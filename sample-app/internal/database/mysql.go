package database

import (
	"cmp"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"

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
func openMySQL(dsn string) (*DB, error) {
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
	cfg.Timeout = cmp.Or(cfg.Timeout, connectTimeout)
	cfg.ReadTimeout = cmp.Or(cfg.ReadTimeout, answerTimeout)
	cfg.WriteTimeout = cmp.Or(cfg.WriteTimeout, answerTimeout)
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
	db := &DB{
		Dialect: MySQL, Where: fmt.Sprintf("mysql://%s/%s", cfg.Addr, cfg.DBName), pools: []*sql.DB{poolOf(connector)},
	}
	return db.finish(func(pool *sql.DB) gorm.Dialector {
		// GORM would ask for the version, and the server need not be up yet.
		return mysql.New(mysql.Config{Conn: pool, DSNConfig: cfg, SkipInitializeWithVersion: true})
	})
}
