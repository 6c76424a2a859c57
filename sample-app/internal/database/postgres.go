package database

import (
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
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
	// The driver's message may quote the URL, and so the password. A # is never right. An @ in the
	// name of the database means that the password has a slash, and that half of it was taken for a
	// port.
	if err != nil || strings.ContainsRune(url, '#') || strings.ContainsRune(cfg.Database, '@') {
		return nil, errors.New("database: the PostgreSQL URL makes no sense: " + give)
	}
	if cfg.Database == "" {
		return nil, errors.New("database: the PostgreSQL URL names no database: " + give)
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
