package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"

	"github.com/pathlock-go/pathlock/internal/dburl"
)

// openPostgres opens a database on a PostgreSQL server. It sets lock_timeout and application_name
// unless the URL does.
func openPostgres(url string, connections int) (*DB, error) {
	cfg, err := parsePostgres(url)
	if err != nil {
		return nil, err
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = connectTimeout
	}
	for name, value := range map[string]string{
		"lock_timeout":     strconv.FormatInt(rowLockWait.Milliseconds(), 10),
		"application_name": "pathlock-sample",
	} {
		if cfg.RuntimeParams[name] == "" {
			cfg.RuntimeParams[name] = value
		}
	}
	pool := sql.OpenDB(unpooled{stdlib.GetConnector(*cfg)})
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	pool.SetConnMaxIdleTime(time.Minute)
	db := &DB{Dialect: Postgres, Where: fmt.Sprintf("postgres://%s:%d/%s", cfg.Host, cfg.Port, cfg.Database), pools: []*sql.DB{pool}}
	db.Write, err = use(postgres.New(postgres.Config{Conn: pool}))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("database: open %s: %w", db.Where, err), db.Close())
	}
	db.Read = db.Write
	return db, nil
}

// unpooled says what a pgbouncer needs that refuses to set lock_timeout.
type unpooled struct{ driver.Connector }

// protocolViolation is the code of the refusal.
const protocolViolation = "08P01"

// Connect implements [driver.Connector].
func (c unpooled) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == protocolViolation {
		return nil, fmt.Errorf("%w; a pgbouncer needs ignore_startup_parameters = lock_timeout, the server ALTER ROLE ... SET lock_timeout = '%v', "+
			"and in transaction mode the URL default_query_exec_mode=cache_describe", err, rowLockWait)
	}
	return conn, err
}

// parsePostgres reads a URL, which has to name a database.
func parsePostgres(url string) (cfg *pgx.ConnConfig, err error) {
	err = dburl.Postgres(url, func(url string) (string, error) {
		if cfg, err = pgx.ParseConfig(url); err != nil {
			return "", err
		}
		return cfg.Database, nil
	})
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	return cfg, nil
}

// numbered replaces the question marks of a query by PostgreSQL's placeholders, $1 for the first.
// No literal in the query may have a question mark.
func numbered(query string) string {
	var b strings.Builder
	for n := 1; ; n++ {
		head, rest, found := strings.Cut(query, "?")
		b.WriteString(head)
		if !found {
			return b.String()
		}
		b.WriteString("$" + strconv.Itoa(n))
		query = rest
	}
}
