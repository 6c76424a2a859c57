package database

import (
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
)

// openPostgres opens a PostgreSQL server's database. What the URL says of lock_timeout and
// application_name is respected.
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
	pool := stdlib.OpenDB(*cfg)
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

// parsePostgres reads a URL, which has to name a database.
func parsePostgres(url string) (*pgx.ConnConfig, error) {
	const give = "give postgres://user:password@host:5432/name, with / ? # @ % in a password as %2F %3F %23 %40 %25"
	cfg, err := pgx.ParseConfig(url)
	// The driver's message can quote the URL, and with it the password. A # is never right, and an
	// @ in the database's name is that of a password with a slash, half of which has been taken for
	// a port.
	if err != nil || strings.ContainsRune(url, '#') || strings.ContainsRune(cfg.Database, '@') {
		return nil, errors.New("database: the PostgreSQL URL makes no sense: " + give)
	}
	if cfg.Database == "" {
		return nil, errors.New("database: the PostgreSQL URL names no database: " + give)
	}
	return cfg, nil
}

// numbered writes the placeholders of a query as PostgreSQL has them: $1 for the first question
// mark. No query may have one in a literal.
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

// postgresContended reports whether an error says that transactions collided.
// See https://www.postgresql.org/docs/current/errcodes-appendix.html.
func postgresContended(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	switch e.Code {
	case "40001", // serialization_failure
		"40P01", // deadlock_detected
		"55P03": // lock_not_available
		return true
	}
	return false
}
